import type { RequestState } from '../door/host-types.ts'
import { type Inspected, inspectSession, loadedSession, type ReadSession } from '../door/load.ts'
import { type Judgement, KnownSessions, type KnownSessionsOptions } from '../door/sessions/known-sessions.ts'
import type { SeenSession } from '../door/sessions/session-lives.ts'
import type { JoinedCalls } from '../door/stores/session-stores.ts'
import { requireUserId, type UserId } from '../ground/user-id.ts'
import type { SessionVerdict } from '../limiter/check-session.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
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

/** Calls a function, and returns its result or exception as a promise that may be dropped. */
function started<T>(run: () => PromiseLike<T>): Promise<T> {
  const reply = new Promise<T>((resolve) => resolve(run()))
  reply.catch(() => {})
  return reply
}

interface AdoptedTerms {
  readonly counts: boolean | undefined
  readonly loggedInAt: number | undefined
}

type Read<Data> = (client?: ReadingClient) => PromiseLike<Data | null | undefined>

/** The sessions of an application that reads and writes them itself. The data of a session names its user. */
export class ReadSessions extends KnownSessions {
  declare readonly calls: JoinedCalls

  constructor(sessions: object, calls: JoinedCalls, limiter: SessionLimiter, options: KnownSessionsOptions) {
    super(sessions, calls, limiter, options)
    this.readable = { client: ANY_CLIENT }
  }

  override belongsTo({ userId }: SeenSession, data: SessionOfUser): boolean {
    return data.userId === userId
  }

  override isVisitors({ userId }: SessionOfUser): boolean {
    return userId === undefined || userId === null
  }

  override async judge(
    sessionId: string,
    { userId }: SessionOfUser,
    known: SeenSession | undefined,
    early: SessionVerdict | undefined,
  ): Promise<Judgement | undefined> {
    if (userId === undefined || userId === null) return undefined
    requireUserId(userId)
    const isOfKnown = known?.userId === userId
    const verdict = (isOfKnown && early) || (await this.limiter.check(userId, this.tokenFor(sessionId)))
    return { userId, verdict, needsPair: false }
  }

  override noteRecorded(seen: SeenSession, _data: object, { usedAt, ttlMs }: SessionUse): void {
    const now = performance.now()
    if (now >= seen.freshUntil && now >= usedAt) this.#recorded(seen, usedAt, ttlMs)
  }

  #recorded(seen: SeenSession, usedAt: number, ttlMs: number): void {
    seen.life = usedAt + ttlMs
    seen.freshUntil = usedAt + this.#intervalOf(ttlMs)
  }

  #intervalOf(ttlMs: number): number {
    return Math.min(this.options.touchEveryMs, ttlMs / 10)
  }

  /** Does nothing: the application itself records the use of its sessions. */
  override noteArrival(): void {}

  /** Reads a session with the application's function, and checks whether it is live. */
  read<Data extends SessionOfUser>(sessionId: string, read: Read<Data>): Promise<Inspected<Data>> {
    const reading: ReadSession = (_, call, from) => {
      if (!from) return this.calls.read(call, () => read())
      let isUsed = false
      const get = (key: string) => {
        isUsed = true
        return (from as { readonly client: ReadingClient }).client.get(key)
      }
      const reply = started(() => read({ get }))
      if (isUsed) return this.calls.read(call, () => reply, from)
      // The application reads its sessions elsewhere, and sets its own deadline.
      this.readable = {}
      this.calls.read(call, () => reply)
      return false
    }
    return loadedSession(this, sessionId, reading) as Promise<Inspected<Data>>
  }

  /** Checks whether a session of a user is live. */
  check(sessionId: string, userId: UserId): Promise<Inspected> {
    return inspectSession(this, sessionId, { userId }, this.seen.get(sessionId))
  }

  /** Registers a session that is older than sessmgr, and checks whether it is live. */
  async adopt(sessionId: string, userId: UserId, ttlMs: number, terms: AdoptedTerms): Promise<Inspected> {
    const session = { sessionId, ttlMs, ...terms, ip: null, userAgent: null, device: null }
    const verdict = await this.limiter.adopt(userId, session)
    const known = this.seen.note(sessionId, userId, this.tokenFor(sessionId))
    return inspectSession(this, sessionId, { userId }, known, verdict)
  }

  /**
   * Records the use of a session, unless this process has just done so. Resolves to false if the session is not
   * registered.
   */
  async touch(sessionId: string, userId: UserId, ttlMs: number): Promise<boolean> {
    const known = this.seen.note(sessionId, userId, this.tokenFor(sessionId))
    const now = performance.now()
    const interval = this.#intervalOf(ttlMs)
    if (now < known.freshUntil && Math.abs(now + ttlMs - (known.life ?? 0)) < interval) return true
    this.#recorded(known, now, ttlMs)
    try {
      const isRegistered = await this.limiter.touch(userId, known.token, ttlMs, interval / 2)
      if (!isRegistered) this.seen.delete(sessionId)
      return isRegistered
    } catch (error) {
      known.freshUntil = Number.NEGATIVE_INFINITY
      throw error
    }
  }
}
