import { SessmgrError } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import type { Logger } from '../ground/logger.ts'
import type { GuardedRequest, HostRequest, HostResponse, LimitLogin, Next } from '../guard/host-types.ts'
import type { Notices } from '../guard/notice/notices.ts'
import { judgeSession } from '../guard/request/loaded-session.ts'
import { warnIfTooEarly } from '../guard/request/too-early.ts'
import { expressStanding } from './express-standing.ts'
import type { ExpressStore, ExpressStores } from './express-store.ts'
import { limitPassportLogins } from './passport-login.ts'

/**
 * Returns the middleware that every request passes. It reads the state of the session, and prepares the request for a
 * login.
 */
export function expressGuard(
  stores: ExpressStores,
  limitLogin: LimitLogin,
  notices: Notices,
  logger: Logger,
  resumeDevice?: (request: GuardedRequest) => void,
) {
  const guardLater = guardWhenAssigned(stores)
  return function sessmgr(request: HostRequest, response: HostResponse, next: Next): void {
    if (!stores.isInUse) loadLateCode(notices)
    stores.isInUse = true
    const standing = expressStanding(request)
    const earlier = standing.passed ?? stores
    standing.passed = stores
    if (standing.shown) return earlier === stores ? next() : next(twoLimiters())
    const { sessionStore: store, session } = request
    if (!store && session) return next(withoutStore())
    if (!store && isFastify(request)) return refuseFastify(next)
    limitPassportLogins(request, response, limitLogin, standing)
    standing.next = next
    standing.isTooEarly = !session
    if (!store || !session) {
      // Paths outside the cookie's, routes without sessions, or a disconnected store: nobody is signed in.
      if (!stores.isInOrder && !store) Object.defineProperty(request, 'sessionStore', guardLater)
      // The browser may have hung up, so the response need not finish.
      response.once('close', () => {
        if (warnIfTooEarly(request, logger) && request.sessionStore) stores.of(request.sessionStore)
      })
      return next()
    }

    stores.isInOrder = true
    const guarded = stores.of(store)
    if (!standing.state) return void judgeLoadedSession(guarded, request, response, notices).then(() => next(), next)
    standing.shown = standing.state
    resumeDevice?.(request)
    if (standing.presentedId === undefined) return next()
    removeCookie(guarded, request, response, standing.presentedId, notices).then(() => next(), next)
  }
}

/**
 * Creates a `req.sessionStore` that guards the session store before a session middleware after sessmgr uses it. So the
 * guard refuses the first login as well.
 */
function guardWhenAssigned(stores: ExpressStores): PropertyDescriptor & ThisType<HostRequest> {
  return {
    configurable: true,
    get: () => undefined,
    set(store) {
      Object.defineProperty(this, 'sessionStore', {
        value: store,
        configurable: true,
        enumerable: true,
        writable: true,
      })
      if (store) stores.of(store)
    },
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
  { guard }: ExpressStore,
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
  const isLeft = () => guard.left.has(deadSessionId)
  clearSessionCookie(request, response, deadSessionId, keepNotice, isReplaced, isLeft)
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
  await removeCookie(guarded, request, response, loadedId, notices, true)
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

function withoutStore(): SessmgrError {
  return new SessmgrError(
    'session_middleware_unsupported',
    'The session on this request has no store, as with cookie-session. A limit needs sessions that the server can ' +
      'end: use express-session, app.use(session({ store, secret, resave: false, saveUninitialized: false })).',
  )
}
