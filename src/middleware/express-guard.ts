import { SessmgrError } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import type { HostRequest, HostResponse, LimitLogin, Next } from '../guard/host-types.ts'
import type { Notices } from '../guard/notice/notices.ts'
import { judgeSession } from '../guard/request/loaded-session.ts'
import type { Standing } from '../guard/request/standing.ts'
import { expressStanding } from './express-standing.ts'
import type { ExpressStore, ExpressStores } from './express-store.ts'
import { limitPassportLogins } from './passport-login.ts'

/**
 * Returns the middleware that every request passes. It reads the state of the session, and prepares the request for a
 * login.
 */
export function expressGuard(stores: ExpressStores, limitLogin: LimitLogin, notices: Notices) {
  return function sessmgr(request: HostRequest, response: HostResponse, next: Next): void {
    if (!stores.isInUse) loadLateCode(notices)
    stores.isInUse = true
    const standing = expressStanding(request)
    const earlier = standing.passed ?? stores
    standing.passed = stores
    if (standing.shown) return earlier === stores ? next() : next(twoLimiters())
    const { sessionStore: store, session } = request
    if (!store || !session) return withoutSession(stores, request, standing, next)

    const guarded = stores.of(store)
    limitPassportLogins(request, response, limitLogin, standing)
    if (!standing.state) return void judgeLoadedSession(guarded, request, response, notices).then(() => next(), next)
    standing.shown = standing.state
    if (standing.presentedId === undefined) return next()
    removeCookie(request, response, standing.presentedId, notices).then(() => next(), next)
  }
}

type CookieRemover = typeof import('./clear-session-cookie.ts')

let cookieRemover: Promise<CookieRemover> | undefined

/** Loads the code that removes cookies soon after startup, before an in-place update can remove its file. */
function loadCookieRemover(): Promise<CookieRemover> {
  cookieRemover ??= import('./clear-session-cookie.ts')
  cookieRemover.catch(() => {
    cookieRemover = undefined
  })
  return cookieRemover
}

function loadLateCode(notices: Notices): void {
  loadCookieRemover()
  notices.load()
}

async function removeCookie(
  request: HostRequest,
  response: HostResponse,
  deadSessionId: string,
  notices: Notices,
  isReplaced = false,
): Promise<void> {
  const ended = request.sessmgr?.ended ?? { reason: 'missing' }
  const [{ clearSessionCookie }, keepNotice] = await Promise.all([
    loadCookieRemover(),
    notices.keep(request, ended, response),
  ])
  clearSessionCookie(request, response, deadSessionId, keepNotice, isReplaced)
}

function twoLimiters(): SessmgrError {
  return invalidOption(
    'This application mounts two limiters, and the second would have no effect. Call sessmgr() once, and use that one ' +
      'limiter everywhere: app.use(limiter), limiter.router(), limiter.admin()',
  )
}

/** Checks a session that was loaded before the guard was installed, as with the first requests. */
async function judgeLoadedSession(
  guarded: ExpressStore,
  request: HostRequest,
  response: HostResponse,
  notices: Notices,
): Promise<void> {
  const { sessionID: loadedId = '' } = request
  if (!(await judgeSession(guarded, request))) return
  await guarded.exchange(request)
  request[request._userProperty ?? 'user'] = undefined
  await removeCookie(request, response, loadedId, notices, true)
}

/** Checks whether Fastify has called the limiter as a plugin, or as a function that returns a plugin's options. */
function isFastify(request: HostRequest): boolean {
  return 'register' in request && 'decorateRequest' in request
}

function refuseFastify(next: Next | undefined): void {
  // Without `next`, Fastify expects the options of a plugin, and the plugin refuses what it is given.
  next?.(
    invalidOption(
      'In Fastify, register the plugin from sessmgr/fastify: fastify.register(fastifySessmgr, { limiter })',
    ),
  )
}

function withoutSession(stores: ExpressStores, request: HostRequest, standing: Standing, next: Next): void {
  if (isFastify(request)) return refuseFastify(next)
  standing.noteTooEarly(stores)
  const known = stores.all()
  if (request.session) {
    return next(
      new SessmgrError(
        'session_middleware_unsupported',
        'The session on this request has no store, as with cookie-session. A limit needs sessions that the server can ' +
          'end: use express-session, app.use(session({ store, secret, resave: false, saveUninitialized: false })).',
      ),
    )
  }
  if (known.length === 0) {
    return next(
      new SessmgrError(
        'session_middleware_missing',
        'There is no session on this request. Add express-session before sessmgr: app.use(session({ store, secret, ' +
          'resave: false, saveUninitialized: false })). If its cookie has a path, mount sessmgr under that path too.',
      ),
    )
  }
  // The session store is down. A visitor with a cookie may be signed in, and must not be treated as anonymous.
  if (request.headers.cookie !== undefined && known.some((store) => !store.connected())) {
    return next(new SessmgrError('store_unavailable', 'The session store is disconnected. Try again shortly.'))
  }
  next()
}
