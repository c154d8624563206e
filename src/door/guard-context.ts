import type { SiteSecrets } from '../auth/site-secrets.ts'
import { BoundedMap } from '../ground/bounded-map.ts'
import type { Logger } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import { type Token, tokenOf } from '../sessions/session-record.ts'
import type { SessionUse } from '../sessions/session-registry.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { EndedState, HostSessionData, RequestState } from './host-types.ts'
import { PAIR_KEY, pairOf, type SessionPair } from './pair.ts'
import { CacheCount, lifeOf, type SeenSession, SeenSessions, SessionLives } from './session-lives.ts'
import type { StoreCalls } from './stores/store-calls.ts'
import { UserWarnings } from './warnings.ts'

/** A login session, as requests see it. */
export type LoginSession = NonNullable<RequestState['session']>

export interface GuardOptions {
  /** Returns the user id in the data of a session that the guard does not know yet. */
  readonly sessionUser: (data: HostSessionData) => UserId | undefined
  /** Whether the application has set the `sessionUser` option. */
  readonly hasOwnReader?: boolean | undefined
  /** Longest time between updates of a session's last use, in milliseconds. */
  readonly touchEveryMs: number
  /** How long a request waits for sessmgr's own store, in milliseconds. */
  readonly deadlineMs: number
  /** How many sessions to remember. */
  readonly sessionCacheSize: number
  readonly store: Pick<SessmgrStore, 'local' | 'transients' | 'sharesClient'>
  /** Knows the name of the registry. */
  readonly siteSecrets: SiteSecrets
  readonly logger: Logger
}

/** What the guard of one session store needs to read, write and touch sessions. */
export class GuardContext {
  /** The guarded session store. */
  readonly store: object
  /** The object from which the watch can read sessions: the session store, or an object of its adapter. */
  readable: object
  /** The store's own methods, without the guard. */
  readonly calls: StoreCalls
  /** Whether sessmgr's own store uses the same client, so that one outage concerns both. */
  readonly sharesClient: boolean
  readonly limiter: SessionLimiter
  readonly options: GuardOptions
  readonly lives: SessionLives
  readonly warnings: UserWarnings
  readonly seen: SeenSessions
  readonly cache: CacheCount
  /** How recent sessions ended, by raw id. Cached, because a browser may ask several times. */
  readonly endings = new BoundedMap<string, EndedState>(10_000)
  /** Sessions that could not be read, by raw id: why, and when by `performance.now()`. */
  readonly unread = new BoundedMap<string, { readonly error: unknown; readonly at: number }>(10_000)
  /** Raw ids of login sessions that were destroyed here, so that a late write does not bring them back. */
  readonly destroyed = new BoundedMap<string, true>(10_000)
  /** Whether the application has named the store, so that logins count on requests that do not pass sessmgr. */
  isNamed = false

  constructor(store: object, calls: StoreCalls, limiter: SessionLimiter, options: GuardOptions) {
    this.store = store
    this.readable = store
    this.calls = calls
    this.sharesClient = options.store.sharesClient?.(store) ?? false
    this.limiter = limiter
    this.options = options
    this.seen = new SeenSessions(options.sessionCacheSize)
    this.cache = new CacheCount(this.seen, options.sessionCacheSize, options.store.transients)
    this.lives = new SessionLives(store, options.logger)
    this.warnings = new UserWarnings(options.logger)
  }

  /** Whether sessmgr's own store is away, and the session store probably as well. */
  get areStoresAway(): boolean {
    return this.limiter.isStoreAway && (this.sharesClient || this.calls.health.isDoubtful)
  }

  /** Returns the token of a session, computing it only for unknown sessions. */
  tokenFor(sessionId: string): Token {
    return this.seen.get(sessionId)?.token ?? tokenOf(sessionId)
  }

  /**
   * Waits until the name of the registry is known, so that pairs can be written.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  async ready(): Promise<void> {
    if (!this.options.siteSecrets.known) await this.options.siteSecrets.load()
  }

  /** Returns the pair of a session, if it has one of its own. */
  pairOf(sessionId: string, data: HostSessionData): SessionPair | undefined {
    return data[PAIR_KEY] !== undefined ? pairOf(data, this.tokenFor(sessionId)) : undefined
  }

  /**
   * Reads the name of the registry again, and checks whether a pair names it. If not, the session was registered before
   * a restart or `uninstall`, so a registry that does not know it cannot tell that it has ended.
   */
  async isCurrent({ registry }: SessionPair): Promise<boolean> {
    return registry === (await this.options.siteSecrets.refresh()).registry
  }

  /** Returns a new pair. Without `ready()`, it names no registry, so the next request replaces it. */
  newPair({ userId, token }: LoginSession): SessionPair {
    return { userId, token, registry: this.options.siteSecrets.known?.registry ?? '' }
  }

  /** Pairs a session with its user. */
  pair(sessionId: string, data: HostSessionData, login: LoginSession): void {
    this.seen.note(sessionId, login.userId, login.token)
    this.destroyed.delete(sessionId)
    // Enumerable, so that the framework sees a change. An adapter may have made the earlier pair invisible.
    Object.defineProperty(data, PAIR_KEY, {
      value: this.newPair(login),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }

  /** Notes that a login has registered a session with its full lifetime, so that its next use need not be recorded. */
  noteRegistered(sessionId: string, data: HostSessionData): void {
    // With `rolling`, uses count for longer than the lifetime of the login; see `spareMs`.
    const interval = this.lives.isRolling ? 0 : this.lives.touchInterval(data, this.options.touchEveryMs)
    this.seen.noteTouch(sessionId, data, interval)
    this.seen.noteStored(sessionId, 0)
  }

  /**
   * Notes that a process has just recorded the use of a session, so that this process need not. `data` is the session
   * as stored.
   */
  noteRecorded(seen: SeenSession, data: HostSessionData, use: SessionUse): void {
    if (performance.now() < seen.freshUntil) return
    try {
      const freshUntil = this.lives.freshUntil(data, use, this.options.touchEveryMs)
      if (freshUntil === undefined) return
      seen.life = lifeOf(data)
      seen.freshUntil = freshUntil
    } catch {
      // A `ttl` function of the application may expect a session object and throw. The use is then recorded as usual.
    }
  }

  /**
   * Records that a request has come with a session that was not used for a while. A request may take long, and until it
   * ends, its session must not count as idle. Failures are ignored: the end of the request records its use as well.
   */
  noteArrival(seen: SeenSession, data: HostSessionData): void {
    const now = performance.now()
    if (now < seen.freshUntil || now < seen.arrivalUntil) return
    const interval = this.lives.touchInterval(data, this.options.touchEveryMs)
    // A session in regular use is not idle, and the end of this request records its use.
    if (now < seen.freshUntil + interval) return
    seen.arrivalUntil = now + interval
    if (interval > 0) this.limiter.touch(seen.userId, seen.token, undefined, interval / 2).catch(() => {})
  }

  /** Returns the user of a session, or undefined if it has none or its user cannot be read. */
  readonly userIn = (data: HostSessionData): UserId | undefined => {
    try {
      return this.options.sessionUser(data)
    } catch {
      return undefined
    }
  }

  /** Checks whether a session's store need not be touched, because it keeps the session for long enough. */
  canWaitInStore(sessionId: string, data: HostSessionData): boolean {
    return this.lives.isKnown(data) && (!this.lives.isRolling || this.seen.isStored(sessionId))
  }

  /** Forgets a login session that is over, except that it is: a late write must not bring it back. */
  lose(sessionId: string): void {
    if (this.seen.delete(sessionId)) this.destroyed.set(sessionId, true)
  }

  async isLive({ userId, token }: LoginSession): Promise<boolean> {
    return (await this.limiter.check(userId, token)).live
  }

  /** Frees the slot of a session. Resolves to true if the session was still live. */
  release(sessionId: string, userId: UserId): Promise<boolean> {
    const token = this.tokenFor(sessionId)
    this.seen.delete(sessionId)
    return this.limiter.release(userId, token)
  }
}
