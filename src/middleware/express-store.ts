import { SessmgrError } from '../ground/errors.ts'
import type { GuardedRequest, HostRequest, HostSession, HostSessionData, HostStore } from '../guard/host-types.ts'
import type { Inspected } from '../guard/inspect-session.ts'
import { loadSession } from '../guard/load-session.ts'
import { Standing } from '../guard/request/standing.ts'
import type { HostedStore } from '../guard/session-exchange.ts'
import type { SessionGuard } from '../guard/session-guard.ts'
import type { SessionGuards } from '../guard/session-guards.ts'
import { answerCallback, storeCalls } from '../guard/stores/store-calls.ts'
import { expressExchange } from './express-exchange.ts'
import { expressStanding } from './express-standing.ts'

/** A store of express-session behind the guard. */
export interface ExpressStore extends HostedStore {
  /** False between the store's events `disconnect` and `connect`: express-session then makes no sessions. */
  readonly connected: () => boolean
}

/** The stores of express-session that one limiter guards. */
export class ExpressStores {
  readonly #guards: SessionGuards
  readonly #stores = new Map<HostStore, ExpressStore>()
  /** Whether any request has come by the guard. */
  isInUse = false

  constructor(guards: SessionGuards) {
    this.#guards = guards
  }

  /** Finds a store, guarding it if need be. @throws SessmgrError `invalid_option` when another limiter guards it. */
  of(store: HostStore): ExpressStore {
    const known = this.#stores.get(store)
    if (known) return known
    const guarded = guardExpressStore(store, this.#guards.of(store, storeCalls), this)
    this.#stores.set(store, guarded)
    return guarded
  }

  all(): readonly ExpressStore[] {
    return [...this.#stores.values()]
  }
}

/**
 * Puts the guard in front of a store, in place, because express-session holds the very object.
 *
 * Reading: an ended session is reported as missing, so nothing that comes after ever sees it. Writing: a session that
 * has been ended since it was read is not written, so a slow request cannot bring it back. Destroying: frees the slot.
 */
function guardExpressStore(store: HostStore, guard: SessionGuard, stores: ExpressStores): ExpressStore {
  // Bridges store.get and the createSession or generate that express-session calls, synchronously, from its callback.
  let loaded: Inspected | undefined
  let loadedId: string | undefined
  const givingUp = new GivingUp()
  const connected = watchConnection(store)
  const { createSession, regenerate } = store
  let generate = store.generate

  store.get = (sessionId, callback) => {
    if (!callback) return guard.load(sessionId).then(({ data }) => data)
    loadSession(guard, sessionId, (error, result) => {
      loaded = result
      loadedId = sessionId
      try {
        callback(error, result?.data)
      } finally {
        loaded = undefined
      }
    })
  }
  store.set = (sessionId, data, callback) => {
    // express-session keeps the request in the session.
    const request = data.req as HostRequest | undefined
    return answerCallback(guard.save(sessionId, data, request), callback)
  }
  store.destroy = (sessionId, callback) => answerCallback(guard.destroy(sessionId, givingUp.request), callback)
  if (store.touch) {
    store.touch = (sessionId: string, data: HostSessionData, callback) => {
      if (!callback) return guard.touch(sessionId, data)
      guard.noteUse(sessionId, data, callback)
    }
  }
  store.createSession = (request, data) => {
    const standing = standingIn(stores, request)
    const session = createSession.call(store, request, data)
    // By the data, which is quicker told than by the id that the request has.
    if (!loaded || loadedId === undefined || loaded.data !== data) return session
    const { session: login, needsMarker } = loaded
    standing.state = login ? { session: login } : {}
    if (!login) return session
    if (needsMarker) guard.mark(loadedId, session, login)
    guard.noteOrigin(standing, session, login)
    givingUp.attend(session)
    return session
  }
  store.regenerate = (request, callback) => {
    if (Standing.of(request)?.login) {
      store.generate(request)
      return process.nextTick(callback)
    }
    regenerateGuarded(request, callback)
  }
  // express-session assigns its generate to the store when it is set up, which may be after this.
  Object.defineProperty(store, 'generate', {
    configurable: true,
    enumerable: true,
    get: () => generateGuarded,
    set: (assigned) => {
      generate = assigned
    },
  })

  function regenerateGuarded(request: HostRequest, callback: (error?: unknown) => void): void {
    const { sessionID, session } = request
    const answer = (error?: unknown) => {
      // A session that could not be ended is still the browser's, which must keep the cookie to try again.
      if (error) Object.assign(request, { sessionID, session })
      else if (request.sessmgr?.session) request.sessmgr = {}
      callback(error)
    }
    givingUp.during(request, () => regenerate.call(store, request, answer))
  }

  function generateGuarded(request: HostRequest): void {
    const standing = standingIn(stores, request)
    const isLost = loaded !== undefined && loadedId === request.sessionID && !loaded.data
    standing.state = isLost ? { ended: { reason: loaded?.ended ?? 'missing' } } : {}
    standing.presentedId = isLost ? loadedId : undefined
    generate.call(store, request)
    if (!standing.login) standing.begunId = request.sessionID
  }

  return {
    ...expressExchange,
    guard,
    attend: (session) => givingUp.attend(session),
    connected,
  }
}

/** Finds the standing of a request that gets a session. @throws SessmgrError when it came to sessmgr without one. */
function standingIn(stores: ExpressStores, request: HostRequest): Standing {
  const standing = expressStanding(request)
  if (!standing.tooEarlyFor?.has(stores)) return standing
  const advice = 'Move app.use(sessmgr(…)) behind app.use(session(…)).'
  throw new SessmgrError('session_middleware_missing', `sessmgr stands before express-session. ${advice}`)
}

/** Bridges the calls by which a request gives its session up and the store's destroy, which is not told of the request. */
class GivingUp {
  request: GuardedRequest | undefined
  /** The property `destroy` of a session: one for all, so that none is made per request. */
  readonly #destroy: PropertyDescriptor

  constructor() {
    const during: GivingUp['during'] = (request, run) => this.during(request, run)
    this.#destroy = {
      configurable: true,
      writable: true,
      value(this: HostSession & { req: GuardedRequest }, callback?: (error?: unknown) => void) {
        return during(this.req, () => Object.getPrototypeOf(this).destroy.call(this, callback))
      },
    }
  }

  /** Runs what destroys the session of a request. It must call the store at once. */
  during<T>(request: GuardedRequest, run: () => T): T {
    this.request = request
    try {
      return run()
    } finally {
      this.request = undefined
    }
  }

  /** Stands by for a request to give up its login session. */
  attend(session: HostSession): void {
    if (Object.hasOwn(session, 'destroy') || typeof session.destroy !== 'function') return
    Object.defineProperty(session, 'destroy', this.#destroy)
  }
}

/** Follows the events `disconnect` and `connect` of a store. */
function watchConnection(store: HostStore): () => boolean {
  let connected = true
  store.on?.('disconnect', () => {
    connected = false
  })
  store.on?.('connect', () => {
    connected = true
  })
  return () => connected
}
