import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ApplicationPasswords, createApplicationPasswords } from '../auth/application-passwords.ts'
import { createNonces } from '../auth/nonce.ts'
import { SiteSecrets } from '../auth/site-secrets.ts'
import type { Addons } from '../features/addons/addons.ts'
import { createAddonsService } from '../features/addons/create-addons.ts'
import { createAdmin } from '../features/admin/create-admin.ts'
import { enqueueAddress } from '../features/admin/enqueue-address.ts'
import type { AdminOptions } from '../features/admin/resolve-admin-options.ts'
import { createRoutesWarning } from '../features/admin/routes-warning.ts'
import { COMMENTS_OPTION } from '../features/comments/comment-settings.ts'
import { createCommentsService, type LazyComments } from '../features/comments/comments-service.ts'
import { mayManageComments } from '../features/comments/may-manage-comments.ts'
import { requireCommentsAccess } from '../features/comments/require-comments-access.ts'
import { systemClock } from '../ground/clock.ts'
import { hostLogin } from '../guard/host-login.ts'
import type { HostRequest, HostResponse, Next } from '../guard/host-types.ts'
import { hostRequestOf, type RequestLike } from '../guard/host-visit.ts'
import { SessionStores } from '../guard/session-stores.ts'
import { warnOfSeveralProcesses } from '../guard/warn-of-local-store.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { Host } from '../host/host.ts'
import { createFindSignedIn } from '../host/signed-in-user.ts'
import type { SessionManager } from '../limiter/manage-sessions.ts'
import { createSessionLimiter, type SessionLimiter } from '../limiter/session-limiter.ts'
import { directLogin, directLogout, requireStore } from '../middleware/direct-login.ts'
import { expressGuard } from '../middleware/express-guard.ts'
import { orderWarning } from '../middleware/order-warning.ts'
import type { Admit } from '../middleware/passport-login.ts'
import type { OptionRegistry } from '../options/option-registry.ts'
import type { SettingsService } from '../options/session-settings.ts'
import type { SiteOption } from '../options/site-option.ts'
import { type Caller, REST_ACTION, type Reader } from '../routes/authenticate-caller.ts'
import { openapiRoute } from '../routes/openapi-route.ts'
import { createRouter } from '../routes/router.ts'
import { sessmgrRoutes } from '../routes/sessmgr-routes.ts'
import { refuseWithoutHost } from '../routes/without-host.ts'
import { tokenOf } from '../sessions/token.ts'
import type { LogicModes } from '../strategies/logic-catalogue.ts'
import { refuseRequest } from './refuse-request.ts'
import { requireRequest } from './require-request.ts'
import { resolveOptions, type SessmgrOptions } from './resolve-options.ts'
import { carryCore } from './service-core.ts'

/** A middleware for Express and its relatives. */
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void

/**
 * The middleware, and the service that it carries.
 *
 * What its members reject with goes to `next` as it is: a SessmgrError has the `status` of its answer, and with 503 the
 * header `Retry-After` in `headers`.
 */
export interface Sessmgr extends Middleware {
  /** Carries the actions and filters of this service, to subscribe to. */
  readonly hooks: Hooks
  /** Lists and ends login sessions, of one user or of all. */
  readonly sessions: SessionManager
  /** Reads and changes the settings of the limit. */
  readonly settings: SettingsService
  /** Holds the named options of the site, to which add-ons add theirs. */
  readonly options: OptionRegistry
  /** Finds the mode for a stored value of `logic`, and what people read of each. */
  readonly modes: LogicModes
  /** Creates, lists, revokes and checks the passwords that scripts use on the REST routes. */
  readonly passwords: ApplicationPasswords
  /** The lazy comments; undefined unless the host has posts and a theme. */
  readonly comments: LazyComments | undefined
  /** The add-ons and their licences. */
  readonly addons: Addons
  /** What the application has told of its users, if it has. */
  readonly host: Host | undefined
  /**
   * Makes the middleware of the REST routes, to mount below a path: `app.use('/api', limiter.router())`.
   *
   * It stands after sessmgr itself, and best before the application's body parsers.
   */
  router(): Middleware
  /**
   * Makes the middleware of the admin screen, to mount at a path: `app.use('/admin', limiter.admin())`.
   *
   * It stands after sessmgr itself and needs the REST routes. Only users with `manage_options` see it.
   *
   * @throws SessmgrError `invalid_option` for a bad option, without `host`, and in a bundle without the screen's files.
   */
  admin(options?: AdminOptions): Middleware
  /**
   * Puts an add-on's script, or style sheet, on the admin screen: a path, or an http or https address.
   *
   * Scripts run as modules after the screen's own, in the order in which they came.
   *
   * @throws SessmgrError `invalid_option` for anything else.
   */
  enqueueAdmin(url: string): void
  /**
   * Makes the nonce that a page of this request's session sends along with its REST calls.
   *
   * Undefined when nobody is signed in. It is good for 12 to 24 hours.
   *
   * @throws SessmgrError `store_unavailable`, unless the option `secret` is given; `invalid_option` without a request.
   */
  nonce(request: RequestLike): Promise<string | undefined>
  /**
   * Logs a user in, for hosts without Passport: gives the request a fresh session that counts against the limit.
   *
   * Whatever the application wants to keep in the session it writes afterwards.
   *
   * @throws SessmgrError `login_limit_reached` when the limit refuses the login; `session_ended` when the request came with
   * a session of this user that has been ended since; `login_conflict`, `store_unavailable`, `hook_failed`,
   * `hook_timeout`, `user_id_missing`, `session_middleware_missing`, `invalid_option` without a request. The session is
   * then as it was.
   */
  login(request: RequestLike, user: unknown): Promise<void>
  /**
   * Logs the user of a request out, for hosts without Passport: the session ends and its slot is free.
   *
   * @throws SessmgrError `store_unavailable`; then the session goes on. `session_middleware_missing`, and
   * `invalid_option` without a request.
   */
  logout(request: RequestLike): Promise<void>
  /**
   * Removes every option and key of sessmgr from its store. The sessions of the application go on, and nobody is signed out.
   *
   * @throws SessmgrError `invalid_option` when the client of the store cannot list keys; `store_unavailable`, and some
   * keys may be left then.
   */
  uninstall(): Promise<void>
  /** Waits for asynchronous hook subscribers that are still at work, then closes the store. */
  close(): Promise<void>
}

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
