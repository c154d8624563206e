import { createApplicationPasswords } from '../auth/application-passwords.ts'
import { createNonces } from '../auth/nonce.ts'
import { SiteSecrets } from '../auth/site-secrets.ts'
import { createAddonsService } from '../features/addons/create-addons.ts'
import { createAdmin } from '../features/admin/create-admin.ts'
import { enqueueAddress } from '../features/admin/enqueue-address.ts'
import type { AdminOptions } from '../features/admin/resolve-admin-options.ts'
import { createRoutesWarning } from '../features/admin/routes-warning.ts'
import { COMMENTS_OPTION } from '../features/comments/comment-settings.ts'
import { createCommentsService } from '../features/comments/comments-service.ts'
import { mayManageComments } from '../features/comments/may-manage-comments.ts'
import { requireCommentsAccess } from '../features/comments/require-comments-access.ts'
import { systemClock } from '../ground/clock.ts'
import type { HostRequest, HostResponse, Next } from '../guard/host-types.ts'
import { hostLogin } from '../guard/login/host-login.ts'
import { hostRequestOf, type RequestLike } from '../guard/request/host-visit.ts'
import { SessionStores } from '../guard/stores/session-stores.ts'
import { warnOfSeveralProcesses } from '../guard/stores/warn-of-local-store.ts'
import { createFindSignedIn } from '../host/signed-in-user.ts'
import { createSessionLimiter, type SessionLimiter } from '../limiter/session-limiter.ts'
import { directLogin, directLogout, requireStore } from '../middleware/direct-login.ts'
import { expressGuard } from '../middleware/express-guard.ts'
import { orderWarning } from '../middleware/order-warning.ts'
import type { Admit } from '../middleware/passport-login.ts'
import type { SiteOption } from '../options/site-option.ts'
import { type Caller, REST_ACTION, type Reader } from '../routes/authenticate-caller.ts'
import { openapiRoute } from '../routes/openapi-route.ts'
import { createRouter } from '../routes/router.ts'
import { sessmgrRoutes } from '../routes/sessmgr-routes.ts'
import { refuseWithoutHost } from '../routes/without-host.ts'
import { tokenOf } from '../sessions/token.ts'
import { refuseRequest } from './refuse-request.ts'
import { requireRequest } from './require-request.ts'
import { resolveOptions, type SessmgrOptions } from './resolve-options.ts'
import type { Middleware, Sessmgr } from './service.ts'
import { carryCore } from './service-core.ts'

/**
 * Limits how many login sessions one account may hold.
 *
 * Stands after express-session, and before or after `passport.session()`.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * app.use(session({ store, secret, resave: false, saveUninitialized: false }))
 * app.use(sessmgr({ settings: { maximum: 2, logic: 'logout_oldest' } }))
 * app.use(passport.session())
 */
export function sessmgr(options?: SessmgrOptions): Sessmgr {
  const resolved = resolveOptions(options)
  const { store, logger, host, nonceHeader } = resolved
  warnOfSeveralProcesses(store, logger)
  const siteSecrets = new SiteSecrets(store.options, resolved.secrets)
  const hostSessions: SessionStores = new SessionStores(() => limiter, { ...resolved, siteSecrets })
  const limiter: SessionLimiter = createSessionLimiter({ ...resolved, hostSessions })
  // Another host's store waits for its adapter.
  if (typeof resolved.sessionStore?.createSession === 'function') hostSessions.of(resolved.sessionStore)

  const admit: Admit = async (request, user, establish) => {
    const userId = resolved.userIdOf(user)
    const blockedMessage = () => resolved.textsFor(request).say('login_blocked')
    return hostLogin(limiter, hostSessions.guardedBy(requireStore(request)), request, userId, establish, blockedMessage)
  }
  const guard = expressGuard(hostSessions, admit)
  const passwords = createApplicationPasswords(store.passwords, systemClock)
  const nonces = createNonces(() => siteSecrets.all(), systemClock)
  const readerOf = (request: RequestLike) => {
    const { sessmgr: state, session, sessionID = '' } = hostRequestOf(request)
    // Whoever has been signed out since the request came in is nobody's reader any more.
    return state?.session && session && tokenOf(sessionID) === state.session.token ? state.session : undefined
  }
  const nonceOf = async (request: RequestLike) => {
    requireRequest(request, 'limiter.nonce(request)')
    const reader = readerOf(request)
    return reader && nonces.create({ ...reader, action: REST_ACTION })
  }
  const { posts, theme } = host ?? {}
  const { comments, routes: commentRoutes = [] } =
    posts && theme
      ? createCommentsService({ ...resolved, host: { posts, theme }, hooks: limiter.hooks, readerOf, nonceOf })
      : {}
  if (comments) limiter.options.add(comments.settings.option as SiteOption)
  const { addons, routes: addonRoutes } = createAddonsService({ ...resolved, hooks: limiter.hooks })

  let isInUse = false
  const findSignedIn = host ? createFindSignedIn(host.users, logger) : async () => undefined
  const routesWarning = createRoutesWarning(resolved.restPath, logger)
  const noteNonce = orderWarning('limiter.router()', logger)
  // Such a call is nobody's anyway; where nothing has come by the limiter so far, app.use(limiter) was forgotten.
  const noteBareCall = (request: HostRequest) => {
    if (!isInUse && request.sessionStore) noteNonce(request)
  }
  function router(mistaken?: unknown): Middleware {
    refuseRequest(mistaken, 'limiter.router()')
    routesWarning.noteRouter()
    if (!host) return refuseWithoutHost(logger, resolved.textsFor) as Middleware
    const optionGuards = new Map([
      [COMMENTS_OPTION, (caller: Caller) => requireCommentsAccess(limiter.hooks, host, caller)],
    ])
    const parts = [...sessmgrRoutes(limiter, host, optionGuards), ...addonRoutes, ...commentRoutes]
    const routes = [...parts, openapiRoute(parts, nonceHeader)]
    const isLive = async ({ userId, token }: Reader) => (await limiter.check(userId, token)).live
    const callers = { host, readerOf, isLive, findSignedIn, passwords, nonces, nonceHeader }
    const { textsFor } = resolved
    const notes = { noteNonce, noteBareCall, noteCall: routesWarning.noteCall }
    return createRouter({ ...callers, ...notes, routes, logger, textsFor }) as Middleware
  }

  const enqueued = new Set<string>()
  const noteOrder = orderWarning('limiter.admin()', logger)
  const notePage = (request: HostRequest) => {
    noteOrder(request)
    routesWarning.notePage()
  }
  function admin(options?: AdminOptions): Middleware {
    refuseRequest(options, 'limiter.admin()')
    const { hooks, modes } = limiter
    const { restPath, textsFor } = resolved
    const isForComments = async (caller: Caller) =>
      comments !== undefined && host !== undefined && mayManageComments(hooks, host, caller)
    const page = { nonceOf, nonceHeader, restPath, textsFor, enqueued, notePage }
    const parts = { host, hooks, modes, ...page, findSignedIn, mayManageComments: isForComments }
    return createAdmin(parts, options) as Middleware
  }

  async function login(request: RequestLike, user: unknown): Promise<void> {
    requireRequest(request, 'limiter.login(request, user)')
    await directLogin(request, user, admit)
  }

  async function logout(request: RequestLike): Promise<void> {
    requireRequest(request, 'limiter.logout(request)')
    await directLogout(request)
  }

  const middleware: Middleware = (request, response, next: Next) => {
    isInUse = true
    guard(request as HostRequest, response as HostResponse, next)
  }
  const service: Sessmgr = Object.assign(middleware, {
    hooks: limiter.hooks,
    sessions: limiter.sessions,
    settings: limiter.settings,
    options: limiter.options,
    modes: limiter.modes,
    passwords,
    addons,
    comments,
    host,
    router,
    admin,
    enqueueAdmin: (url: string) => enqueueAddress(enqueued, url),
    nonce: nonceOf,
    login,
    logout,
    async uninstall() {
      await store.wipe()
      siteSecrets.forget()
    },
    close: () => limiter.close(),
  })
  carryCore(service, { limiter, stores: hostSessions, admit, options: resolved })
  // The first turn of the event loop belongs to the application, which subscribes in it.
  setImmediate(() => void limiter.hooks.doAction('sessmgr_init', service))
  return service
}
