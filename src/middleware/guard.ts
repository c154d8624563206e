import type { HostRequest, HostResponse, Next } from '../door/host-types.ts'
import { explainEnd, judgeSession } from '../door/load.ts'
import type { Notices } from '../door/notice/notices.ts'
import { type LimitLogin, VISIT, type Visit, type Visited } from '../door/request/visit.ts'
import type { SessionGuard } from '../door/session-guard.ts'
import { warnIfTooEarly } from '../door/warnings.ts'
import { SessmgrError } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import type { Logger } from '../ground/logger.ts'
import { holdLogins } from './hold-answer.ts'
import { limitPassportLogins } from './login.ts'
import type { ExpressStores } from './store.ts'
import { beginVisit } from './visit.ts'

/**
 * Returns the middleware that every request passes through. It reads the state of the session, and prepares the request
 * for a login.
 */
export function expressGuard(
  stores: ExpressStores,
  limitLogin: LimitLogin,
  notices: Notices,
  logger: Logger,
  resumeDevice?: (visit: Visit) => void,
) {
  const guardLater = guardWhenAssigned(stores)
  return function sessmgr(request: HostRequest & Visited, response: HostResponse, next: Next): void {
    if (!stores.isInUse) beginUse(request, response, notices)
    stores.isInUse = true
    const visit = request[VISIT] ?? beginVisit(request)
    const earlier = visit.passed ?? stores
    visit.passed = stores
    if (visit.sessmgr) return earlier === stores ? next() : next(twoLimiters())
    const { sessionStore: store, session } = request
    if (!store && session) return next(withoutStore())
    if (!store && isFastify(request)) return refuseFastify(next)
    visit.givenResponse = response
    visit.limitLogin = limitLogin
    limitPassportLogins(request)
    visit.next = next
    visit.isTooEarly = !session && !stores.isNamed
    if (!store || !session) {
      // The path is outside the cookie's path, the route has no sessions, or the store is disconnected, so nobody is
      // signed in.
      if (!stores.isInOrder && !store) Object.defineProperty(request, 'sessionStore', guardLater)
      // Not `finish`, which is not emitted if the browser hangs up.
      response.once('close', () => {
        if (warnIfTooEarly(visit, logger) && request.sessionStore) stores.of(request.sessionStore)
      })
      return next()
    }

    stores.isInOrder = true
    // Throws if another limiter guards the store.
    const guard = stores.of(store)
    holdLogins(visit, response, guard)
    if (!visit.state) return void judgeLoadedSession(guard, visit, notices).then(() => next(), next)
    visit.sessmgr = visit.state
    resumeDevice?.(visit)
    if (visit.presentedId === undefined) return next()
    explainEnd(guard, visit.presentedId, visit, notices).then(() => next(), next)
  }
}

/**
 * Returns a `req.sessionStore` property for a session middleware that runs after sessmgr. It guards the store before
 * its first use, so that even the first login is refused.
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

/** Checks how the middleware is called, and loads what later requests need. */
function beginUse(request: unknown, response: unknown, notices: Notices): void {
  if (!request) throw invalidOption('Write app.use(limiter), not app.use(limiter())')
  // Koa and Hono call a middleware with a context and a function.
  if (typeof response === 'function') {
    throw invalidOption(
      'app.use(limiter) is only for Express. In Koa, write app.use(koaSessmgr(limiter, app)), from sessmgr/koa. In Hono, ' +
        'use fetchCalls() from sessmgr/fetch',
    )
  }
  notices.load()
}

function twoLimiters(): SessmgrError {
  return invalidOption(
    'This application mounts two limiters, and the second would have no effect. Call sessmgr() once, and use that one ' +
      'limiter everywhere: app.use(limiter), limiter.router(), limiter.admin()',
  )
}

/** Checks a session that was loaded before the guard was installed, as with the first requests. */
async function judgeLoadedSession(guard: SessionGuard, visit: Visit, notices: Notices): Promise<void> {
  const { sessionID: loadedId = '', raw } = visit
  const request = raw as HostRequest
  if (!(await judgeSession(guard, visit))) return
  await visit.renew()
  request[request._userProperty ?? 'user'] = undefined
  await explainEnd(guard, loadedId, visit, notices)
}

/** Checks whether Fastify has called the limiter as a plugin, or as a function that returns a plugin's options. */
function isFastify(request: HostRequest): boolean {
  return 'register' in request && 'decorateRequest' in request
}

function refuseFastify(next: Next | undefined): void {
  // Without `next`, Fastify expects the options of a plugin, and the plugin refuses missing options.
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
