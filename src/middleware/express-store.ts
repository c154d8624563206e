import type { GuardedRequest, HostRequest, HostSession, HostSessionData, HostStore } from '../guard/host-types.ts'
import type { Inspected } from '../guard/inspect-session.ts'
import { loadSession } from '../guard/load-session.ts'
import { carryMarker, hideMarker } from '../guard/marker-place.ts'
import { Standing } from '../guard/request/standing.ts'
import type { HostedStore } from '../guard/session-exchange.ts'
import type { SessionGuard } from '../guard/session-guard.ts'
import type { SessionGuards } from '../guard/session-guards.ts'
import { answerCallback, storeCalls } from '../guard/stores/store-calls.ts'
import { expressExchange } from './express-exchange.ts'
import { expressStanding } from './express-standing.ts'
import { StoreFailures } from './store-failures.ts'

/** A guarded express-session store. */
export interface ExpressStore extends HostedStore {}

/** The express-session stores that one limiter guards. */
export class ExpressStores {
  readonly #guards: SessionGuards
  readonly #stores = new Map<HostStore, ExpressStore>()
  /** Whether any request has passed the guard. */
  isInUse = false
  /** Whether any request had its session when it passed the guard, so the session middleware comes first. */
  isInOrder = false

  constructor(guards: SessionGuards) {
    this.#guards = guards
  }

  /**
   * Returns the guarded store, installing the guard if needed.
   *
   * @throws SessmgrError `invalid_option` if another limiter guards it.
   */
  of(store: HostStore): ExpressStore {
    const known = this.#stores.get(store)
    if (known) return known
    const guarded = guardExpressStore(store, this.#guards.of(store, storeCalls))
    this.#stores.set(store, guarded)
    return guarded
  }

  all(): readonly ExpressStore[] {
    return [...this.#stores.values()]
  }
}

/**
 * Installs the guard in the store object itself, because express-session holds on to it.
 *
 * Reads report an ended session as missing. Writes skip a session that has ended since it was read, so that a slow
 * request cannot bring it back. Destroying a session frees its slot.
 */
function guardExpressStore(store: HostStore, guard: SessionGuard): ExpressStore {
  // Passes the result from store.get to createSession or generate. express-session calls those synchronously in its
  // callback.
  let loaded: Inspected | undefined
  let loadedId: string | undefined
  const givingUp = new GivingUp()
  const failures = new StoreFailures(guard)
  const { createSession, regenerate } = store
  let generate = store.generate

  store.get = (sessionId, callback) => {
    if (!callback) return guard.load(sessionId).then(hideLoaded)
    loadSession(guard, sessionId, (error, result) => {
      loaded = result
      loadedId = sessionId
      try {
        callback(error, result && hideLoaded(result))
      } finally {
        loaded = undefined
      }
    })
  }
  store.set = (sessionId, data, callback) => {
    // express-session stores the request in the session.
    const saved = guard.save(sessionId, data, data.req as HostRequest | undefined)
    return answerCallback(saved, callback, (error, done) => failures.ofSave(error, sessionId, data, done))
  }
  store.destroy = (sessionId, callback) => {
    const { request } = givingUp
    const destroyed = guard.destroy(sessionId, request)
    return answerCallback(destroyed, callback, (error, done) => failures.ofDestroy(error, sessionId, done, request))
  }
  if (store.touch) {
    store.touch = (sessionId: string, data: HostSessionData, callback) => {
      if (!callback) return guard.touch(sessionId, data)
      guard.noteUse(sessionId, data, callback, undefined, failures.ofVisitor)
    }
  }
  store.createSession = (request, data) => {
    const standing = expressStanding(request)
    const session = createSession.call(store, request, data)
    carryMarker(data, session)
    // Comparing the data is faster than reading the id of the request.
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
  // express-session assigns its own generate to the store during setup, which may happen after this.
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
      // If a session could not be ended, the browser must keep its cookie so that it can try again.
      if (error) Object.assign(request, { sessionID, session })
      else if (request.sessmgr?.session) request.sessmgr = {}
      callback(error)
    }
    givingUp.during(request, () => regenerate.call(store, request, answer))
  }

  function generateGuarded(request: HostRequest): void {
    const standing = expressStanding(request)
    const isLost = loaded !== undefined && loadedId === request.sessionID && !loaded.data
    standing.state = isLost ? { ended: loaded?.ended ?? { reason: 'missing' } } : {}
    standing.presentedId = isLost ? loadedId : undefined
    generate.call(store, request)
    if (!standing.login) standing.begunId = request.sessionID
  }

  return {
    ...expressExchange,
    guard,
    attend: (session) => givingUp.attend(session),
  }
}

/**
 * Returns the data of a session that was read, and hides its marker before express-session compares the data with the
 * application's session. A marker that is about to be replaced stays visible, so that the session is written.
 */
function hideLoaded({ data, session, needsMarker }: Inspected): HostSessionData | undefined {
  if (data && session && !needsMarker) hideMarker(data)
  return data
}

/** Remembers which request gives up its session, because the store's destroy method does not receive the request. */
class GivingUp {
  request: GuardedRequest | undefined
  /** The property descriptor for the `destroy` of a session, shared by all requests. */
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

  /** Runs code that destroys the session of a request. The code must call the store synchronously. */
  during<T>(request: GuardedRequest, run: () => T): T {
    this.request = request
    try {
      return run()
    } finally {
      this.request = undefined
    }
  }

  /** Wraps the session's `destroy`, so that the store knows which request called it. */
  attend(session: HostSession): void {
    if (Object.hasOwn(session, 'destroy') || typeof session.destroy !== 'function') return
    Object.defineProperty(session, 'destroy', this.#destroy)
  }
}
