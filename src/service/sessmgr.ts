import type { NotedPasswords } from '../auth/application-passwords.ts'
import { Erasures } from '../auth/erasures.ts'
import type { HostRequest, RoutedRequest } from '../door/host-types.ts'
import { createLimitLogin } from '../door/login.ts'
import { Notices } from '../door/notice/notices.ts'
import type { DeviceCookies } from '../door/request/device-cookies.ts'
import { type RequestLike, type ResponseLike, type Visit, visitOf } from '../door/request/visit.ts'
import { SessionGuards } from '../door/session-guard.ts'
import { SessionStores } from '../door/stores/session-stores.ts'
import { type ActivityFeature, createActivity } from '../features/activity/activity-feature.ts'
import type { RecorderParts } from '../features/activity/recorder.ts'
import { createAdminFeature } from '../features/admin/admin-feature.ts'
import { createCommentsFeature } from '../features/comments/comments-feature.ts'
import { type ChoiceFeatureParts, createAccountFeature, createChoiceFeature } from '../features/pages/pages-feature.ts'
import { SessmgrError } from '../ground/errors.ts'
import { refuseRequest, requireKnown, requireRequest } from '../ground/option-checks.ts'
import type { UserId } from '../ground/user-id.ts'
import { createSessionLife } from '../hooks/session-life.ts'
import { createSessionLimiter, type SessionLimiter } from '../limiter/session-limiter.ts'
import { expressGuard } from '../middleware/guard.ts'
import { directLogin, directLogout } from '../middleware/login.ts'
import { createGuardOf, ExpressStores } from '../middleware/store.ts'
import { orderWarning } from '../middleware/visit.ts'
import type { OptionChange } from '../options/option-change.ts'
import { lateMethods } from '../routes/late-routes.ts'
import { type Login, tokenOf } from '../sessions/session-record.ts'
import { type ResolvedOptions, resolveOptions, type SessmgrOptions, withSecrets } from './resolve-options.ts'
import { createRestService, type RestService } from './rest-service.ts'
import type { Middleware, Sessmgr } from './service.ts'
import { carryCore } from './service-core.ts'
import type { UserReaders } from './user-readers.ts'

/**
 * Limits how many login sessions each account may have.
 *
 * Mount it after express-session and before your login routes; the order relative to `passport.session()` does not
 * matter.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * app.use(session({ store, secret, resave: false, saveUninitialized: false }))
 * app.use(sessmgr({ settings: { maximum: 2, logic: 'logout_oldest' } }))
 * app.use(passport.session())
 */
export function sessmgr(options?: SessmgrOptions): Sessmgr {
  const { siteSecrets, ...resolved } = resolveForCaller(options)
  const { store, logger, host } = resolved
  const stores = new SessionStores(resolved)
  const activity = createActivity({ ...resolved, erasures: new Erasures(store) }, loadRecorder)
  const limiter = createSessionLimiter({ ...resolved, hostSessions: stores, log: activity.log })
  const guards = new SessionGuards(stores, limiter, { ...resolved, siteSecrets })
  const expressStores = new ExpressStores(guards, resolved.sessionStore)

  const guardOf = createGuardOf(expressStores)
  const textsOf = (visit: Visit) => resolved.textsFor(visit.own)
  const { userIdOf, device, deviceName } = resolved
  let loading: Promise<DeviceCookies> | undefined
  let loaded: DeviceCookies | undefined
  const loadDevices = () => {
    loading ??= import('../door/request/device-cookies.ts').then((late) => {
      loaded = new late.DeviceCookies(deviceName)
      return loaded
    })
    return loading
  }
  const devices = device ? loadDevices : undefined
  const resumeDevice = device ? (visit: Visit) => loaded?.resume(visit) : undefined
  // Load the code now, before an in-place update can remove its file.
  devices?.().catch(() => {})
  const asker = () => features.choice.asker()
  const limitLogin = createLimitLogin({ limiter, userIdOf, guardOf, textsOf, devices, asker })
  const notices = new Notices({ ...resolved, limiter })
  const middleware = expressGuard(expressStores, limitLogin, notices, logger, resumeDevice) as Middleware
  const isLive = async ({ userId, token }: Login) => (await limiter.check(userId, token)).live
  const rest = createRestService(resolved, siteSecrets, { readerOf: liveReaderOf, isLive }, activity.log.note)
  const features = createFeatures(resolved, limiter, rest, devices, activity)
  if (features.comments) limiter.options.add(features.comments.option.option)

  const noteNonce = orderWarning('limiter.router()', logger)
  const eraseUser = createEraseUser({ limiter, activity, guards, passwords: rest.passwords })
  const noteBareCall = (request: RoutedRequest) => {
    if (isUnguarded(request as HostRequest, expressStores, resolved.sessionUser)) noteNonce(request)
  }
  const service: Sessmgr = Object.assign(middleware, {
    ...features.members,
    ...notices.members,
    hooks: limiter.hooks,
    sessions: limiter.sessions,
    settings: limiter.settings,
    options: limiter.options,
    modes: limiter.modes,
    explain: limiter.explain,
    sessionLife: createSessionLife(limiter.hooks, userIdOf),
    passwords: rest.passwords,
    host,
    router(mistaken?: unknown) {
      refuseRequest(mistaken, 'limiter.router()')
      requireKnown(mistaken ?? {}, [], (name) => `limiter.router() has no option "${name}"`)
      if (host) activity.start()
      return rest.router(
        async (parts) => {
          const { createServiceRouter } = await import('./late.ts')
          const noticeFor = notices.forScript.bind(notices)
          return createServiceRouter(parts, limiter, features, eraseUser, { options: resolved, noticeFor })
        },
        { noteNonce, noteBareCall },
      )
    },
    eraseUser,
    async nonce(request: RequestLike) {
      requireRequest(request, 'limiter.nonce(request)')
      return rest.nonceOf(request)
    },
    async login(request: RequestLike, user: unknown) {
      requireRequest(request, 'limiter.login(request, user)', user)
      await directLogin(request, user, limitLogin)
    },
    async logout(request: RequestLike) {
      requireRequest(request, 'limiter.logout(request)')
      await directLogout(request, guardOf)
    },
    async forgetDevice(response: ResponseLike) {
      ;(await loadDevices()).forget(response)
    },
    async uninstall() {
      await store.wipe()
      siteSecrets.forget()
    },
    close: () => limiter.close(activity.close),
  })
  const logins = { limitLogin, devices, resumeDevice, asker }
  carryCore(service, { limiter, stores, guards, guardOf, ...logins, notices, siteSecrets, options: resolved })
  // Deferred, so that the application can still subscribe in this turn of the event loop.
  setImmediate(() => void limiter.hooks.doAction('sessmgr_init', service))
  return service
}

/**
 * Checks whether a request seems to have bypassed app.use(limiter): no request has passed it yet, or the session has a
 * user.
 */
function isUnguarded(
  { sessionStore, session }: HostRequest,
  { isInUse }: ExpressStores,
  sessionUser: UserReaders['sessionUser'],
): boolean {
  return sessionStore !== undefined && session !== undefined && (!isInUse || sessionUser(session) !== undefined)
}

/** Returns the user and session of a request, or undefined if the session ended after the request arrived. */
function liveReaderOf(request: object): Login | undefined {
  const { sessmgr: state, session, sessionID = '' } = visitOf(request) ?? {}
  return state?.session && session && tokenOf(sessionID) === state.session.token ? state.session : undefined
}

const loadRecorder = async (parts: RecorderParts) => new (await import('./late.ts')).Recorder(parts)

function createEraseUser({
  limiter,
  activity,
  guards,
  passwords,
}: {
  limiter: SessionLimiter
  activity: ActivityFeature
  guards: SessionGuards
  passwords: NotedPasswords
}): Sessmgr['eraseUser'] {
  const traces = {
    recordedNames: activity.recordedNames,
    forgetEvents: activity.forget,
    forgetPasswords: passwords.erase,
    forgetInMemory: (userId: UserId) => guards.forget(userId),
  }
  return (userId, whom) => limiter.erase(traces, userId, whom)
}

/** Creates the features and collects what each adds to the service. */
function createFeatures(
  options: ResolvedOptions,
  { hooks, modes, sessions, settings, preview, signOutOthers }: SessionLimiter,
  rest: RestService,
  devices: ChoiceFeatureParts['devices'],
  activity: ActivityFeature,
) {
  const { posts, theme, can } = options.host ?? {}
  const noteChange = (change: OptionChange) => activity.log.note('settings.changed', change)
  const parts = { ...options, ...rest, hooks, modes }
  const comments =
    posts && theme && can
      ? createCommentsFeature({ ...parts, noteChange, host: { posts, theme, can } }, async (comments) =>
          (await import('./late.ts')).createComments(comments),
        )
      : undefined
  const loadAddons = async () => (await import('./late.ts')).createAddonsFeature(parts)
  const addons = lateMethods(loadAddons, ['list', 'refresh', 'activate', 'deactivate', 'isLicensed'])
  const admin = createAdminFeature({
    ...parts,
    // If the catalogue fails, its tab is shown to explain why.
    hasAddons: async () =>
      Boolean(options.licensing) ||
      hooks.hasFilter('sessmgr_register_addon') ||
      (await addons.list().catch(() => undefined))?.items.length !== 0,
    commentsOption: comments?.option,
    hasActivity: options.audit !== false,
    hasDirectory: options.directory,
    siteUrl: options.site?.url,
    load: async (page) => (await import('./late.ts')).createAdmin(page),
  })
  const account = createAccountFeature({
    ...parts,
    sessions,
    signOutOthers,
    settings,
    load: async (page) => (await import('./late.ts')).createAccount(page),
  })
  const choice = createChoiceFeature({
    ...parts,
    devices,
    sessions,
    settings,
    preview,
    load: async (page) => (await import('./late.ts')).createChoice(page),
  })
  const pages = { ...admin, ...account.member, ...choice.member }
  const members = { ...(pages as Pick<Sessmgr, keyof typeof pages>), addons, comments: comments?.member }
  return { members, activity, account, choice, addons, comments }
}

/** Resolves the options, or throws an error whose stack begins at the caller: Node prints the caller's line first. */
function resolveForCaller(options: SessmgrOptions | undefined) {
  try {
    return withSecrets(resolveOptions(options))
  } catch (error) {
    if (error instanceof SessmgrError) Error.captureStackTrace?.(error, sessmgr)
    throw error
  }
}
