import type { HostSessionData, RequestState } from '../door/host-types.ts'
import { SeenSession } from '../door/session-lives.ts'
import type { JoinedCalls } from '../door/stores/session-stores.ts'
import { promised } from '../door/stores/store-calls.ts'
import { BoundedMap } from '../ground/bounded-map.ts'
import { requireUserId, type UserId } from '../ground/user-id.ts'
import type { SessionVerdict } from '../limiter/check-session.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import { tokenOf } from '../sessions/session-record.ts'
import type { SessionUse } from '../sessions/session-registry.ts'
import { ANY_CLIENT } from '../stores/store.ts'

/** A Redis client to read sessions with. */
export interface ReadingClient {
  /** Reads a string. */
  get(key: string): Promise<string | null>
}

/** Reads sessions with the application's function, through the watched Redis connection. */
export class WatchedReader {
  readonly client = ANY_CLIENT as unknown as ReadingClient
  readonly read: (client: ReadingClient, sessionId: string) => unknown

  constructor(read: (client: ReadingClient, sessionId: string) => unknown) {
    this.read = read
  }

  get(sessionId: string): unknown {
    return this.read(this.client, sessionId)
  }
}

/** A session that explicit calls have seen. */
class KnownSession extends SeenSession {
  /** Time of the last recorded use, and the expiry recorded with it, by `performance.now()`. */
  usedAt = Number.POSITIVE_INFINITY
  expiresAt = 0
}

/** A session as it was read, and whether it is live. */
export interface ReadSession<Data> {
  readonly data?: Data | undefined
  readonly userId?: UserId | undefined
  readonly verdict?: SessionVerdict | undefined
}

/** The data of a session, including the id of its user. */
export type SessionOfUser = {
  /** The user whose session it is. */
  readonly userId?: UserId | null | undefined
}

/** Result of `load`. */
export interface LoadedSession<Data extends SessionOfUser> extends RequestState {
  /** The data of a live session. */
  readonly data?: Data
}

interface KnownSessionsOptions {
  readonly sessionCacheSize: number
  readonly touchEveryMs: number
  readonly deadlineMs: number
}

/** Remembers the sessions that explicit calls have seen, to save calls to the store. */
export class KnownSessions {
  readonly #known: BoundedMap<string, KnownSession>
  readonly #limiter: SessionLimiter
  readonly #touchEveryMs: number
  readonly #deadlineMs: number
  readonly #calls: JoinedCalls
  readonly #readable = { client: ANY_CLIENT as unknown as ReadingClient }

  constructor(limiter: SessionLimiter, options: KnownSessionsOptions, calls: JoinedCalls) {
    this.#known = new BoundedMap(options.sessionCacheSize)
    this.#limiter = limiter
    this.#touchEveryMs = options.touchEveryMs
    this.#deadlineMs = options.deadlineMs
    this.#calls = calls
  }

  forget(sessionId: string): void {
    this.#known.delete(sessionId)
  }

  #of(sessionId: string, userId: UserId): KnownSession {
    const known = this.#known.get(sessionId)
    if (known?.userId === userId) return known
    const made = new KnownSession(userId, tokenOf(sessionId))
    this.#known.set(sessionId, made)
    return made
  }

  /**
   * Reads a session and checks whether it is live. If the watch knows the session, one read is enough. Otherwise, asks
   * sessmgr's own store in the same turn.
   */
  async read<Data extends SessionOfUser>(
    sessionId: string,
    read: (client?: ReadingClient) => PromiseLike<Data | null | undefined>,
  ): Promise<ReadSession<Data>> {
    const known = this.#known.get(sessionId)
    const watched = known && (await this.#readWatched(sessionId, known, read))
    if (watched) return watched
    const checking = known && this.check(sessionId, known.userId)
    const data = await this.#unlessAway(checking ?? this.#limiter.reach(), () => this.#readFrom<Data>(read))
    const userId = data?.userId ?? undefined
    if (!data) this.forget(sessionId)
    if (userId === undefined) return { data }
    const isOfKnown = checking && known.userId === userId
    return { data, userId, verdict: await (isOfKnown ? checking : this.check(sessionId, userId)) }
  }

  /** Reads a session over the watched connection. Resolves to undefined if its user must be checked. */
  async #readWatched<Data extends SessionOfUser>(
    sessionId: string,
    known: KnownSession,
    read: (client?: ReadingClient) => PromiseLike<Data | null | undefined>,
  ): Promise<ReadSession<Data> | undefined> {
    const { watch } = this.#limiter
    const from = watch?.reading(this.#readable)
    if (!watch || !from) return undefined
    const begun = watch.begin(known)
    let data: Data | undefined
    try {
      data = await this.#readFrom<Data>(read, from)
    } catch (error) {
      // If the watched connection was lost, the application's own may still work.
      if ((error as Error).cause !== undefined) return undefined
      watch.drop()
      throw error
    }
    const userId = data?.userId ?? undefined
    if (!data) this.forget(sessionId)
    if (userId === undefined) return { data }
    if (known.userId !== userId || !watch.isLive(known, begun)) {
      return { data, userId, verdict: await this.check(sessionId, userId) }
    }
    const { use } = known
    noteUse(known, use)
    return { data, userId, verdict: use ? { live: true, use } : LIVE }
  }

  #readFrom<Data>(
    read: (client?: ReadingClient) => PromiseLike<Data | null | undefined>,
    from?: { readonly client: ReadingClient },
  ): Promise<Data | undefined> {
    const reading = promised<HostSessionData | undefined>((call) =>
      this.#calls.read(call, () => read(from?.client), from),
    )
    return reading as Promise<Data | undefined>
  }

  /**
   * Reads a session while sessmgr's own store is asked. If that one does not respond, a session store that does not
   * respond either has until the deadline, and one that may be down is not asked.
   */
  async #unlessAway<Data>(asked: Promise<unknown>, read: () => Promise<Data>): Promise<Data> {
    const since = performance.now()
    if (this.#limiter.isStoreAway && this.#calls.health.isDoubtful) await asked
    return new Promise((resolve, reject) => {
      asked.catch((error) => setTimeout(reject, since + this.#deadlineMs - performance.now(), error))
      read().then(resolve, reject)
    })
  }

  /** Asks the store whether a session is live. */
  async check(sessionId: string, userId: UserId): Promise<SessionVerdict> {
    requireUserId(userId)
    const known = this.#of(sessionId, userId)
    const verdict = await this.#limiter.check(userId, known.token)
    if (verdict.live) noteUse(known, verdict.use)
    else this.forget(sessionId)
    return verdict
  }

  /**
   * Records the use of a session, unless this process has just done so. Resolves to false if the session is not
   * registered.
   */
  async touch(sessionId: string, userId: UserId, ttlMs: number): Promise<boolean> {
    const known = this.#of(sessionId, userId)
    const now = performance.now()
    const interval = Math.min(this.#touchEveryMs, ttlMs / 10)
    const isRecent = now - known.usedAt < interval && now >= known.usedAt
    if (isRecent && Math.abs(now + ttlMs - known.expiresAt) < interval) return true
    known.usedAt = now
    known.expiresAt = now + ttlMs
    // Moved to the end of the map, so that sessions in use are evicted last.
    this.#known.set(sessionId, known)
    try {
      const isRegistered = await this.#limiter.touch(userId, known.token, ttlMs, interval / 2)
      if (!isRegistered) this.forget(sessionId)
      return isRegistered
    } catch (error) {
      known.usedAt = Number.POSITIVE_INFINITY
      throw error
    }
  }
}

const LIVE: SessionVerdict = Object.freeze({ live: true })

/** Notes the use that the store reported last, unless this process has recorded one itself. */
function noteUse(known: KnownSession, use: SessionUse | undefined): void {
  known.use = undefined
  if (!use || Number.isFinite(known.usedAt)) return
  known.usedAt = use.usedAt
  known.expiresAt = use.usedAt + use.ttlMs
}
