import { SiteSecrets } from '../auth/site-secrets.ts'
import { createActivity } from '../features/activity/activity-feature.ts'
import { refuseRequest, requireRequest } from '../ground/request-checks.ts'
import type { GuardedRequest, HostRequest } from '../guard/host-types.ts'
import { createLimitLogin } from '../guard/limit-login.ts'
import { Notices } from '../guard/notice/notices.ts'
import type { DeviceCookies, ResponseLike } from '../guard/request/device-cookies.ts'
import { guardedRequestOf, type RequestLike, viewOf } from '../guard/request/host-visit.ts'
import { SessionGuards } from '../guard/session-guards.ts'
import { MARKER_KEY } from '../guard/session-marks.ts'
import { SessionStores } from '../guard/stores/session-stores.ts'
import { warnOfSeveralProcesses } from '../guard/stores/warn-of-local-store.ts'
import { createSessionLimiter } from '../limiter/session-limiter.ts'
import { directLogin, directLogout } from '../middleware/direct-login.ts'
import { expressGuard } from '../middleware/express-guard.ts'
import { ExpressStores } from '../middleware/express-store.ts'
import { orderWarning } from '../middleware/guard-order.ts'
import { createStoreOf } from '../middleware/store-of.ts'
import type { Reader } from '../routes/caller.ts'
import { tokenOf } from '../sessions/token.ts'
import { createFeatures } from './features.ts'
import { resolveOptions, type SessmgrOptions } from './resolve-options.ts'
import { createRestService } from './rest-service.ts'
import type { Middleware, Sessmgr } from './service.ts'
import { carryCore } from './service-core.ts'

/**
 * Limits how many login sessions each account may have.
 *
 * Mount it after express-session and before your login routes; before or after `passport.session()` does not matter.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * app.use(session({ store, secret, resave: false, saveUninitialized: false }))
 * app.use(sessmgr({ settings: { maximum: 2, logic: 'logout_oldest' } }))
 * app.use(passport.session())
 */
export function sessmgr(options?: SessmgrOptions): Sessmgr {
  const resolved = resolveOptions(options)
  const { store, logger, host } = resolved
  warnOfSeveralProcesses(store, logger)
  const siteSecrets = new SiteSecrets(store.options, resolved.secrets)
  const stores = new SessionStores(resolved)
  const activity = createActivity(resolved, async (parts) => new (await import('./late.ts')).Recorder(parts))
  const limiter = createSessionLimiter({ ...resolved, hostSessions: stores, log: activity.log })
  const guards = new SessionGuards(stores, limiter, { ...resolved, siteSecrets })
  const expressStores = new ExpressStores(guards)
  // Stores of other frameworks are guarded by their adapters.
  if (typeof resolved.sessionStore?.createSession === 'function') expressStores.of(resolved.sessionStore)

  const storeOf = createStoreOf(expressStores, limiter)
  const textsOf = (request: GuardedRequest) => resolved.textsFor(viewOf(request))
  const { userIdOf, device, deviceName } = resolved
  let loading: Promise<DeviceCookies> | undefined
  const loadDevices = () => {
    loading ??= import('../guard/request/device-cookies.ts').then((late) => new late.DeviceCookies(deviceName))
    return loading
  }
  const devices = device ? loadDevices : undefined
  // Load the code now, before an in-place update can remove its file.
  devices?.().catch(() => {})
  const asker = () => features.choice.asker()
  const limitLogin = createLimitLogin({ limiter, userIdOf, storeOf, textsOf, devices, asker })
  const notices = new Notices({ ...resolved, siteSecrets })
  const middleware = expressGuard(expressStores, limitLogin, notices) as Middleware
  const isLive = async ({ userId, token }: Reader) => (await limiter.check(userId, token)).live
  const rest = createRestService(resolved, siteSecrets, { readerOf: liveReaderOf, isLive }, activity.log.note)
  const loginAtOf = (message: RequestLike) => {
    const request = guardedRequestOf(message)
    const { session, sessionID = '' } = request
    // With explicit calls, sessmgr does not see the session data.
    if (!session || !(MARKER_KEY in session)) return undefined
    return storeOf(request).guard.markerOf(sessionID, session)?.loginAt
  }
  const features = createFeatures(resolved, limiter, rest, loginAtOf, devices, activity)
  if (features.comments) limiter.options.add(features.comments.option.option)

  const noteNonce = orderWarning('limiter.router()', logger)
  // If no request has passed the limiter yet, app.use(limiter) was probably forgotten.
  const noteBareCall = (request: HostRequest) => {
    if (!expressStores.isInUse && request.sessionStore) noteNonce(request)
  }
  const { noteRouter, noteCall } = features.routesWarning
  const service: Sessmgr = Object.assign(middleware, {
    ...features.members,
    ...notices.members,
    hooks: limiter.hooks,
    sessions: limiter.sessions,
    settings: limiter.settings,
    options: limiter.options,
    modes: limiter.modes,
    explain: limiter.explain,
    passwords: rest.passwords,
    host,
    router(mistaken?: unknown) {
      refuseRequest(mistaken, 'limiter.router()')
      noteRouter()
      if (host) activity.start()
      return rest.router(
        async (parts) => {
          const { createServiceRouter } = await import('./late.ts')
          const noticeFor = notices.forScript.bind(notices)
          return createServiceRouter(parts, limiter, features, { options: resolved, noticeFor })
        },
        { noteNonce, noteBareCall, noteCall },
      )
    },
    async nonce(request: RequestLike) {
      requireRequest(request, 'limiter.nonce(request)')
      return rest.nonceOf(request)
    },
    async login(request: RequestLike, user: unknown) {
      requireRequest(request, 'limiter.login(request, user)')
      await directLogin(request, user, limitLogin, storeOf)
    },
    async logout(request: RequestLike) {
      requireRequest(request, 'limiter.logout(request)')
      await directLogout(request, storeOf)
    },
    async forgetDevice(response: ResponseLike) {
      const cookies = await loadDevices()
      cookies.forget(response)
    },
    async uninstall() {
      await store.wipe()
      siteSecrets.forget()
    },
    close: () => limiter.close().then(activity.close),
  })
  const { noteLogin } = features.account
  carryCore(service, { limiter, stores, guards, limitLogin, storeOf, devices, notices, noteLogin, options: resolved })
  // The application subscribes in the first turn of the event loop.
  setImmediate(() => void limiter.hooks.doAction('sessmgr_init', service))
  return service
}

/** Returns the reader of a request, or undefined if they were signed out after the request arrived. */
function liveReaderOf(request: RequestLike): Reader | undefined {
  const { sessmgr: state, session, sessionID = '' } = guardedRequestOf(request)
  return state?.session && session && tokenOf(sessionID) === state.session.token ? state.session : undefined
}
