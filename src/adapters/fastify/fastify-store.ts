import { BoundedMap } from '../../ground/bounded-map.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { LoginSession } from '../../guard/guard-context.ts'
import type { EndedState, HostSessionData, HostStore } from '../../guard/host-types.ts'
import type { Inspected } from '../../guard/inspect-session.ts'
import { loadSession } from '../../guard/load-session.ts'
import { visitOf } from '../../guard/request/host-visit.ts'
import { type Visit, visitExchange } from '../../guard/request/visit.ts'
import type { HostedStore } from '../../guard/session-exchange.ts'
import type { SessionGuard } from '../../guard/session-guard.ts'
import { guardedBy } from '../../guard/session-guards.ts'
import { MARKER_KEY, markerIn, type SessionMarker } from '../../guard/session-marks.ts'
import { answerCallback, storeCalls } from '../../guard/stores/store-calls.ts'
import type { Token } from '../../sessions/token.ts'

type StandIn = Pick<HostStore, 'get' | 'set' | 'destroy'>

/** A request whose session this store writes. */
interface WritingVisit extends Visit {
  /** Checks whether the store already has the session, unchanged except for its expiry. */
  isUnchanged(session: object): boolean
}

/** A guarded @fastify/session store. */
export interface FastifyStore extends HostedStore {
  /** Runs code that calls the store synchronously, with the given methods in place of the store's own. */
  without<T>(methods: Partial<StandIn>, run: () => T): T
  /** Returns the login session that was found live when this data was loaded. */
  judged(data: HostSessionData): LoginSession | undefined
  /** Returns how a session ended, or undefined if this is unknown. */
  endingOf(sessionId: string): EndedState | undefined
}

/** Returns the guarded store of a @fastify/session store. */
export const guardFastifyStore = guardedBy(storeCalls, putUpGuard)

function putUpGuard(store: HostStore, guard: SessionGuard): FastifyStore {
  const endings = new BoundedMap<string, EndedState>(10_000)
  // @fastify/session (11) can create an empty session only by destroying and writing sessions in its store, and shows
  // the id from a cookie only to its store. During these synchronous calls, the stand-in replaces the store.
  let standIn: Partial<StandIn> = {}

  store.get = (sessionId, callback) => {
    if (standIn.get) return standIn.get(sessionId, callback)
    if (!callback) return guard.load(sessionId).then((result) => settle(sessionId, result))
    loadSession(guard, sessionId, (error, result) => callback(error, result && settle(sessionId, result)))
  }
  store.set = (sessionId, session, callback) => {
    if (standIn.set) return standIn.set(sessionId, session, callback)
    const visit = visitOf(session) as WritingVisit | undefined
    if (visit) visit.wrote = true
    // A rolling session is written on every request, almost always unchanged.
    if (callback && visit?.isUnchanged(session) && guard.canWait(sessionId, session)) return process.nextTick(callback)
    return answerCallback(guard.save(sessionId, session, visit), callback)
  }
  store.destroy = (sessionId, callback) => {
    if (standIn.destroy) return standIn.destroy(sessionId, callback)
    return answerCallback(guard.destroy(sessionId), callback)
  }

  function settle(sessionId: string, { data, session, needsMarker, ended }: Inspected): HostSessionData | null {
    if (!data) {
      endings.set(sessionId, ended ?? { reason: 'missing' })
      return null
    }
    if (!session || needsMarker) return data
    // Copied, because the memory store returns the same object each time.
    return { ...data, [MARKER_KEY]: new JudgedMarker(markerIn(data) as SessionMarker, session) }
  }

  return {
    ...visitExchange,
    guard,
    without(methods, run) {
      standIn = methods
      try {
        return run()
      } finally {
        standIn = {}
      }
    },
    judged: JudgedMarker.sessionOf,
    endingOf: (sessionId) => endings.get(sessionId),
  }
}

/** The marker of a session that was found live. Needed because the store does not know which request it reads for. */
class JudgedMarker implements SessionMarker {
  readonly userId: UserId
  readonly token: Token
  readonly signature: string
  readonly #session: LoginSession

  constructor({ userId, token, signature }: SessionMarker, session: LoginSession) {
    this.userId = userId
    this.token = token
    this.signature = signature
    this.#session = session
  }

  static sessionOf(data: HostSessionData): LoginSession | undefined {
    const marker = markerIn(data)
    return marker && #session in marker ? marker.#session : undefined
  }
}
