import { SessmgrError } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import type { GuardedRequest, HostRequest } from '../guard/host-types.ts'
import { visitOf } from '../guard/request/host-visit.ts'
import type { HostedStore } from '../guard/session-exchange.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { ExpressStores } from './express-store.ts'

/** Finds the guarded store that has the session of a request. */
export type StoreOf = (request: GuardedRequest) => HostedStore

/**
 * Creates the lookup of the guarded store of a request, for any framework.
 *
 * The lookup throws a SessmgrError with `session_middleware_missing`, or with `invalid_option` if another limiter
 * guards the session.
 */
export function createStoreOf(expressStores: ExpressStores, limiter: SessionLimiter): StoreOf {
  return (request) => {
    const { sessionStore, session, sessionID } = request as HostRequest
    const visited = visitOf(request)?.store
    if (visited && visited.guard.limiter !== limiter) throw anotherLimiter()
    const store = visited ?? (sessionStore && expressStores.of(sessionStore))
    // If the session cookie does not apply to the path, @fastify/session sets an empty object.
    if (store && sessionID !== undefined && typeof session?.regenerate === 'function') return store
    throw new SessmgrError(
      'session_middleware_missing',
      'There is no session on this request, or it has ended. Mount the session middleware before sessmgr, and the login ' +
        "route after both, under the path of the session's cookie: app.use(session({ store, secret, resave: false, " +
        'saveUninitialized: false })).',
    )
  }
}

function anotherLimiter(): SessmgrError {
  const advice = 'Call the limiter that this request has passed, or use one limiter for all'
  return invalidOption(`the session of this request is already guarded by another limiter. ${advice}`)
}
