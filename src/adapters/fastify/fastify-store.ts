import type { HostSession, HostSessionData, HostStore } from '../../door/host-types.ts'
import { type Inspected, type Loaded, loadSession } from '../../door/load.ts'
import type { AdapterVisit } from '../../door/request/adapter-visit.ts'
import { visitOf } from '../../door/request/visit.ts'
import { guardedBy, type SessionGuard } from '../../door/session-guard.ts'
import type { LoginSession } from '../../door/sessions/known-sessions.ts'
import { PAIR_KEY, type SessionPair } from '../../door/sessions/pair.ts'
import { answerCallback, storeCalls } from '../../door/stores/store-calls.ts'
import { BoundedMap } from '../../ground/bounded-map.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Token } from '../../sessions/session-record.ts'

/** A @fastify/session session. */
export interface FastifySession extends HostSession {
  readonly sessionId: string
  /** The id as it appears in the cookie. */
  readonly encryptedSessionId?: string
  isModified(): boolean
  regenerate(keys?: readonly string[] | ((error?: unknown) => void), callback?: (error?: unknown) => void): unknown
}

type StandIn = Pick<HostStore, 'get' | 'set' | 'destroy'>

/** A request whose session this store writes. */
interface WritingVisit extends AdapterVisit {
  /** Checks whether the store already has the session, unchanged except for its expiry. */
  isUnchanged(session: object): boolean
}

/** A guarded @fastify/session store. */
export interface FastifyStore {
  readonly guard: SessionGuard
  /** Runs code that calls the store synchronously, with the given methods in place of the store's own. */
  without<T>(methods: Partial<StandIn>, run: () => T): T
  /** Returns the login session that was found live when this data was loaded, if any. */
  judged(data: HostSessionData): LoginSession | undefined
  /** Checks whether the store has lately been asked for a session that has ended or is missing. */
  hasEnded(sessionId: string): boolean
}

/** Returns a @fastify/session store with its guard, which is installed if needed. */
export const guardFastifyStore = guardedBy(storeCalls, putUpGuard)

function putUpGuard(store: HostStore, guard: SessionGuard): FastifyStore {
  const missing = new BoundedMap<string, true>(10_000)
  // @fastify/session (11) creates an empty session only by destroying and writing sessions in its store, and passes the
  // id in a cookie only to its store. During these synchronous calls, the stand-in replaces the store's methods.
  let standIn: Partial<StandIn> = {}

  store.get = (sessionId, callback) => {
    if (standIn.get) return standIn.get(sessionId, callback)
    if (!callback) return guard.load(sessionId).then((result) => settle(sessionId, result))
    const done: Loaded = (error, result) => callback(error, result && settle(sessionId, result))
    loadSession(guard, sessionId, guard.calls.read, done)
  }
  store.set = (sessionId, session, callback) => {
    if (standIn.set) return standIn.set(sessionId, session, callback)
    const visit = visitOf(session) as WritingVisit | undefined
    // A session from `decryptSession` belongs to no request that sessmgr knows.
    if (callback && !visit && guard.saveVisitors(sessionId, session, callback)) return undefined
    if (visit) visit.wrote = true
    // A rolling session is written on every request, almost always unchanged.
    if (callback && visit?.isUnchanged(session) && guard.canWait(sessionId, session)) return process.nextTick(callback)
    return answerCallback(guard.save(sessionId, session, visit), callback)
  }
  store.destroy = (sessionId, callback) => {
    if (standIn.destroy) return standIn.destroy(sessionId, callback)
    return answerCallback(guard.destroy(sessionId), callback)
  }

  function settle(sessionId: string, { data, session, needsPair }: Inspected): HostSessionData | null {
    if (!data) {
      missing.set(sessionId, true)
      return null
    }
    if (!session || needsPair) return data
    // Copied, because the memory store returns the same object each time.
    return { ...data, [PAIR_KEY]: new JudgedPair(data[PAIR_KEY] as SessionPair, session) }
  }

  return {
    guard,
    without(methods, run) {
      standIn = methods
      try {
        return run()
      } finally {
        standIn = {}
      }
    },
    judged: JudgedPair.sessionOf,
    hasEnded: (sessionId) => missing.get(sessionId) === true,
  }
}

/**
 * The pair of a session that was found live, with the login session. Needed because the store does not know which
 * request it reads for.
 */
class JudgedPair implements SessionPair {
  readonly userId: UserId
  readonly token: Token
  readonly registry: string
  readonly #session: LoginSession

  constructor({ userId, token, registry }: SessionPair, session: LoginSession) {
    this.userId = userId
    this.token = token
    this.registry = registry
    this.#session = session
  }

  static sessionOf(data: HostSessionData): LoginSession | undefined {
    const pair: object = Object(data[PAIR_KEY])
    return #session in pair ? pair.#session : undefined
  }
}
