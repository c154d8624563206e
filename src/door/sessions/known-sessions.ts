import { BoundedMap } from '../../ground/bounded-map.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { SessionVerdict } from '../../limiter/check-session.ts'
import type { SessionLimiter } from '../../limiter/session-limiter.ts'
import { type SessionRecord, type Token, tokenOf } from '../../sessions/session-record.ts'
import type { SessionUse, UserEnds } from '../../sessions/session-registry.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { EndedState, HostSessionData, RequestState } from '../host-types.ts'
import type { SessionPort } from '../port.ts'
import { CacheCount, type SeenSession, SeenSessions } from './session-lives.ts'

/** A login session, as requests see it. */
export type LoginSession = NonNullable<RequestState['session']>

/** Returns a login session that was just registered, as requests see it. */
export function loginOf({ userId, token, actor, bound }: SessionRecord): LoginSession {
  return { userId, token, ...(actor !== null && { actor }), ...(bound !== null && { bound }) }
}

/** The user of a session, and whether it is live. */
export interface Judgement {
  readonly userId: UserId
  readonly verdict: SessionVerdict
  readonly needsPair: boolean
}

export interface KnownSessionsOptions {
  /** How many sessions to remember. */
  readonly sessionCacheSize: number
  /** Longest time between updates of a session's last use, in milliseconds. */
  readonly touchEveryMs: number
  /** How long a request waits for sessmgr's own store, in milliseconds. */
  readonly deadlineMs: number
  readonly store: Pick<SessmgrStore, 'transients' | 'sharesClient'>
}

/** What a process knows about the sessions of one session store, and how it finds out whose they are. */
export abstract class KnownSessions<Options extends KnownSessionsOptions = KnownSessionsOptions> {
  /** The object from which the watch can read sessions: the session store, or an object of its adapter. */
  readable: object
  /** The store's own methods, without the guard. */
  readonly calls: Pick<SessionPort, 'health' | 'destroy'>
  /** Whether sessmgr's own store uses the same client, so that one outage concerns both. */
  readonly sharesClient: boolean
  readonly limiter: SessionLimiter
  readonly options: Options
  readonly seen: SeenSessions
  readonly cache: CacheCount
  /** How recent sessions ended, by raw id. Cached, because a browser may ask several times. */
  readonly endings = new BoundedMap<string, EndedState>(10_000)
  /** Raw ids of login sessions that were destroyed here, so that a late write does not bring them back. */
  readonly destroyed = new BoundedMap<string, true>(10_000)

  constructor(
    store: object,
    calls: Pick<SessionPort, 'health' | 'destroy'>,
    limiter: SessionLimiter,
    options: Options,
  ) {
    this.readable = store
    this.calls = calls
    this.sharesClient = options.store.sharesClient?.(store) ?? false
    this.limiter = limiter
    this.options = options
    this.seen = new SeenSessions(options.sessionCacheSize)
    this.cache = new CacheCount(this.seen, options.sessionCacheSize, options.store.transients)
  }

  /** Checks whether a session that was read still belongs to the user whom this process knows. */
  abstract belongsTo(known: SeenSession, data: HostSessionData): boolean

  /** Checks whether a session names no user, so that there is nothing to check. Does not throw. */
  abstract isVisitors(data: HostSessionData): boolean

  /**
   * Finds out whose session was read, and whether it is live. Resolves to undefined if it has no user.
   *
   * @param early What the limiter has already reported about the session of the known user.
   */
  abstract judge(
    sessionId: string,
    data: HostSessionData,
    known: SeenSession | undefined,
    early: SessionVerdict | undefined,
  ): Promise<Judgement | undefined>

  /**
   * Notes that a process has just recorded the use of a session, so that this process need not. `data` is the session
   * as stored.
   */
  abstract noteRecorded(seen: SeenSession, data: HostSessionData, use: SessionUse): void

  /** Notes that a request has come with a live session. */
  abstract noteArrival(seen: SeenSession, data: HostSessionData): void

  /** Whether sessmgr's own store is away, and the session store probably as well. */
  get areStoresAway(): boolean {
    return this.limiter.isStoreAway && (this.sharesClient || this.calls.health.isDoubtful)
  }

  /** Returns the token of a session, computing it only for unknown sessions. */
  tokenFor(sessionId: string): Token {
    return this.seen.get(sessionId)?.token ?? tokenOf(sessionId)
  }

  /** Forgets a login session that is over, except that it is: a late write must not bring it back. */
  lose(sessionId: string): void {
    if (this.seen.delete(sessionId)) this.destroyed.set(sessionId, true)
  }

  async isLive({ userId, token }: LoginSession): Promise<boolean> {
    return (await this.limiter.check(userId, token)).live
  }

  /** Frees the slot of a session that a request gives up; see `SessionLimiter.giveUp`. */
  giveUp(sessionId: string, userId: UserId): Promise<UserEnds | undefined> {
    const token = this.tokenFor(sessionId)
    this.seen.delete(sessionId)
    return this.limiter.giveUp(userId, token)
  }
}
