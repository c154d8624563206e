import { channel } from 'node:diagnostics_channel'
import { Round } from '../../ground/bounded-map.ts'
import { type Logger, warn } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { TransientStore } from '../../options/transient-store.ts'
import type { Token } from '../../sessions/session-record.ts'
import type { SessionUse } from '../../sessions/session-registry.ts'
import type { WatchedSession } from '../../stores/store.ts'
import type { HostSessionData, RequestState } from '../host-types.ts'

const DAY_MS = 24 * 60 * 60_000

/**
 * Assumed lifetime of a session whose cookie lasts until the browser closes, if its store does not reveal a default.
 */
const BROWSER_SESSION_MS = 14 * DAY_MS

/** Tolerance, because stores count whole seconds and a session is written a little after its expiry was set. */
const SLACK_MS = 5000

const SHORTENED =
  "The session store keeps sessions for less time than their cookies last, so they end early. Remove the session store's " +
  '"ttl" option, or give the cookie the same maxAge.'

/**
 * Returns the milliseconds until a session expires, by its cookie or, in Koa, by its own field. Zero or less if it has
 * expired. Undefined if it lasts until the browser closes. Clock skew does not matter: the same clock set the expiry.
 */
export function cookieTtl({ cookie, _expire }: HostSessionData): number | undefined {
  const expires = cookie?.expires ?? (_expire as number | undefined)
  const ttl = expires ? new Date(expires).getTime() - Date.now() : Number.NaN
  return Number.isFinite(ttl) ? ttl : undefined
}

/**
 * Returns how many milliseconds a session lasts after each use, by its cookie. Undefined if it lasts until the browser
 * closes.
 */
export function lifeOf({ cookie, _maxAge }: HostSessionData): number | undefined {
  const life = cookie?.originalMaxAge ?? _maxAge
  return Number.isFinite(life) ? (life as number) : undefined
}

/** Tolerance for lifetimes, because express-session reads the clock twice and so shortens them slightly. */
const TICKS_MS = 10

/** Checks whether two lifetimes are the same, or both missing. */
export function isSameLife(one: number | undefined, other: number | undefined): boolean {
  return one === other || Math.abs((one ?? Number.NaN) - (other ?? Number.NaN)) < TICKS_MS
}

/** Checks whether the expiry of a session is an invalid date. express-session then sends no cookie. */
export function hasInvalidExpiry(data: HostSessionData): boolean {
  return Boolean(data.cookie?.expires ?? data._expire) && cookieTtl(data) === undefined
}

/** Returns the milliseconds for which a store keeps a session, or undefined if only its cookie matters. */
type StoreLife = (data: HostSessionData) => number | undefined

/** Properties that reveal how long session stores keep their sessions. */
interface TellingStore {
  /** connect-redis: returns the lifetime of a session in seconds. Earlier versions call it `_getTTL`. */
  readonly getTTL?: (data: HostSessionData) => number
  readonly _getTTL?: (data: HostSessionData) => number
  /** connect-redis: whether sessions never expire. */
  readonly disableTTL?: boolean
  /**
   * Lifetime in seconds of a session whose cookie lasts until the browser closes. connect-mongo has it in `options`.
   */
  readonly ttl?: unknown
  readonly options?: { readonly ttl?: unknown } | null
  /** Recognizes connect-pg-simple, whose default is a day for sessions that last until the browser closes. */
  readonly pruneSessions?: unknown
}

function storeLife(store: TellingStore): StoreLife {
  const { getTTL = store._getTTL, ttl = store.options?.ttl, disableTTL } = store
  if (disableTTL) return () => undefined
  if (typeof getTTL === 'function') {
    return (data) => {
      const seconds = getTTL.call(store, data)
      // connect-redis deletes a session with this lifetime instead of writing it.
      if (Number.isNaN(seconds)) return 0
      return Number.isFinite(seconds) ? seconds * 1000 : undefined
    }
  }
  const isTold = typeof ttl === 'number' && ttl > 0
  const own = isTold ? ttl * 1000 : typeof store.pruneSessions === 'function' ? DAY_MS : undefined
  if (own === undefined) return () => undefined
  return (data) => (cookieTtl(data) === undefined ? own : undefined)
}

/** The lifetimes of the sessions in one session store. */
export class SessionLives {
  /** Whether responses extend the cookie of a session that has not changed. Undefined until one was seen. */
  isRolling: boolean | undefined = undefined
  readonly #logger: Logger
  readonly #inStore: StoreLife

  constructor(store: object, logger: Logger) {
    this.#logger = logger
    this.#inStore = storeLife(store)
  }

  /** Returns the milliseconds until a session expires, at least 1: by its cookie, or by its store if that is sooner. */
  ttlOf(data: HostSessionData): number {
    const inStore = this.#inStore(data)
    const inCookie = cookieTtl(data)
    if (inStore !== undefined && inCookie !== undefined && inStore < inCookie - SLACK_MS) {
      warn(this.#logger, 'session-store-shortens-sessions', SHORTENED)
    }
    const [own, most] = [inCookie ?? inStore ?? BROWSER_SESSION_MS, inStore ?? Number.POSITIVE_INFINITY]
    return Math.max(1, Math.round(Math.min(own, most)))
  }

  /**
   * Returns how much longer than its cookie a session is kept after a use that is recorded. With `rolling`, the uses that
   * need not be recorded also send a new cookie, and the session must live as long as the last of them.
   */
  spareMs(interval: number): number {
    return this.isRolling ? Math.round(interval) : 0
  }

  /** Returns a session for the `touch` of its store, with the expiry that its store must keep. */
  withSpare(data: HostSessionData, touchEveryMs: number): HostSessionData {
    const expires = data.cookie?.expires
    if (!expires || !this.isRolling) return data
    const later = new Date(new Date(expires).getTime() + this.spareMs(this.touchInterval(data, touchEveryMs)))
    // Of express-session's class, whose `expires` is an accessor.
    const cookie = Object.assign(Object.create(Object.getPrototypeOf(data.cookie)), data.cookie)
    cookie['_expires' in cookie ? '_expires' : 'expires'] = later
    return Object.assign(Object.create(Object.getPrototypeOf(data)), data, { cookie })
  }

  /** Checks whether a session has expired, for example because the application set a lifetime of zero or less. */
  isOver(data: HostSessionData): boolean {
    return (cookieTtl(data) ?? (hasInvalidExpiry(data) ? this.#inStore(data) : undefined) ?? 1) <= 0
  }

  /**
   * Checks whether a session has an expiry, or its store a known lifetime. If not, every use must reach the store. An
   * invalid date counts as an expiry, because no store could write it.
   */
  isKnown(data: HostSessionData): boolean {
    return Boolean(data.cookie?.expires ?? data._expire) || this.#inStore(data) !== undefined
  }

  /**
   * Returns the milliseconds between updates of a session's last use: `touchEveryMs`, but at most a tenth of its
   * lifetime.
   */
  touchInterval(data: HostSessionData, touchEveryMs: number): number {
    const inStore = this.#inStore(data)
    const life = lifeOf(data) ?? inStore ?? BROWSER_SESSION_MS
    return Math.min(touchEveryMs, Math.min(life, inStore ?? life) / 10)
  }

  /**
   * Returns until when a use that any process has recorded in the registry counts as recent. Undefined if the session's
   * lifetime has changed since. `data` is as stored, so the date in its cookie is from the last write.
   */
  freshUntil(data: HostSessionData, { usedAt, ttlMs }: SessionUse, touchEveryMs: number): number | undefined {
    const life = lifeOf(data) ?? this.#inStore(data) ?? BROWSER_SESSION_MS
    const interval = Math.min(touchEveryMs, life / 10)
    // If the clock was set back, the registry would keep the session too long unless its use is recorded again.
    if (usedAt > performance.now()) return undefined
    return Math.abs(life + this.spareMs(interval) - ttlMs) <= Math.min(ROUNDING_MS, interval)
      ? usedAt + interval
      : undefined
  }
}

/** Tolerance, because a lifetime is measured a little after the expiry was set. */
const ROUNDING_MS = 1000

/** What this process remembers about a login session. */
export class SeenSession implements WatchedSession {
  /** Shared by all requests, so it is frozen. */
  session: NonNullable<RequestState['session']>
  /** Lifetime of the session, by its cookie, when its use was last recorded. With explicit calls, the recorded expiry. */
  life: number | undefined = undefined
  /** When its use must be recorded again, by `performance.now()`. */
  freshUntil = Number.NEGATIVE_INFINITY
  /** Until when the arrival of a request need not be recorded again, by `performance.now()`. */
  arrivalUntil = Number.NEGATIVE_INFINITY
  /** Until when its store need not be touched again, by `performance.now()`. */
  storedUntil = Number.NEGATIVE_INFINITY
  knowledge: object | undefined = undefined
  use: SessionUse | undefined = undefined
  endedBefore: number | undefined = undefined
  /** Whether a request has used it since it was last considered for eviction. */
  used = true

  constructor(userId: UserId, token: Token) {
    this.session = Object.freeze({ userId, token })
  }

  /** Notes to which key the session is bound, if any. */
  noteBound({ bound }: SessionUse): void {
    if (bound === this.session.bound) return
    const { userId, token } = this.session
    this.session = Object.freeze({ userId, token, ...(bound !== undefined && { bound }) })
  }

  get token(): Token {
    return this.session.token
  }

  /** The session's user, which never changes. */
  get userId(): UserId {
    return this.session.userId
  }
}

/** How many guests to remember, as a part of the capacity. */
const GUESTS = 1 / 20

/**
 * Remembers recently seen login sessions by raw id, so that a request can check its session without reading it first.
 *
 * When it is full, a new session replaces one that was not used for a while. If the one whose turn it is was used, the
 * new session is only a guest, and soon forgotten. So with more sessions than it can keep, most requests still find
 * theirs.
 */
export class SeenSessions {
  /** Whether any login session has been seen yet. */
  hasSeen = false
  readonly #kept = new Map<string, SeenSession>()
  readonly #guests = new Map<string, SeenSession>()
  readonly #turns = new Round(() => this.#kept.entries())
  readonly #mostGuests: number
  readonly #mostKept: number

  /** @param capacity How many sessions to remember, besides guests. */
  constructor(capacity: number) {
    this.#mostGuests = Math.ceil(capacity * GUESTS)
    this.#mostKept = capacity
  }

  get size(): number {
    return this.#kept.size + this.#guests.size
  }

  get(sessionId: string): SeenSession | undefined {
    const seen = this.#kept.get(sessionId) ?? this.#guests.get(sessionId)
    if (seen) seen.used = true
    return seen
  }

  delete(sessionId: string): boolean {
    return this.#kept.delete(sessionId) || this.#guests.delete(sessionId)
  }

  #add(sessionId: string, seen: SeenSession): void {
    this.#guests.delete(sessionId)
    const hasRoom = this.#kept.has(sessionId) || this.#kept.size < this.#mostKept
    if (hasRoom) this.#turns.pause()
    if (hasRoom || this.#makeRoom()) {
      this.#kept.set(sessionId, seen)
      return
    }
    this.#guests.set(sessionId, seen)
    if (this.#guests.size > this.#mostGuests) this.#guests.delete(this.#guests.keys().next().value as string)
  }

  /** Forgets the session whose turn it is, unless it was used since its last turn. Returns whether it did. */
  #makeRoom(): boolean {
    const [sessionId, seen] = this.#turns.step() ?? []
    if (sessionId === undefined || seen === undefined) return false
    if (!seen.used) return this.#kept.delete(sessionId)
    seen.used = false
    return false
  }

  /** Remembers a session, and keeps what is already known about it. */
  note(sessionId: string, userId: UserId, token: Token): SeenSession {
    this.hasSeen = true
    const known = this.get(sessionId)
    const isSame = known !== undefined && (known.userId === userId || String(known.userId) === String(userId))
    if (isSame) return known
    const seen = new SeenSession(userId, token)
    this.#add(sessionId, seen)
    return seen
  }

  /** Makes the next use of every session be recorded. */
  forgetUses(): void {
    for (const [, seen] of this.#all()) seen.freshUntil = Number.NEGATIVE_INFINITY
  }

  /** Forgets all sessions of a user, and returns their ids. */
  forget(userId: UserId): string[] {
    const own = this.#all().filter(([, seen]) => String(seen.userId) === String(userId))
    for (const [sessionId] of own) this.delete(sessionId)
    return own.map(([sessionId]) => sessionId)
  }

  #all(): [string, SeenSession][] {
    return [...this.#kept, ...this.#guests]
  }

  /** Checks whether the use of a session was recorded in the registry recently enough. */
  isFresh(sessionId: string, data: HostSessionData): boolean {
    const known = this.get(sessionId)
    // If the application has changed the lifetime, for example with cookie.maxAge, write it at once.
    return known !== undefined && performance.now() < known.freshUntil && isSameLife(known.life, lifeOf(data))
  }

  /** Checks whether this process has touched a session in its store recently enough, since it was last written. */
  isStored(sessionId: string): boolean {
    return performance.now() < (this.get(sessionId)?.storedUntil ?? 0)
  }

  /** Records that the session's store has been touched, or written if `interval` is 0. */
  noteStored(sessionId: string, interval: number): void {
    const known = this.get(sessionId)
    if (known) known.storedUntil = performance.now() + interval
  }

  /** Checks whether the application has changed the lifetime of a session since its use was last recorded here. */
  hasOtherLife(sessionId: string, data: HostSessionData): boolean {
    const known = this.get(sessionId)
    return known !== undefined && Number.isFinite(known.freshUntil) && !isSameLife(known.life, lifeOf(data))
  }

  /** Records that the use of a session is being written, and need not be written again for `interval` milliseconds. */
  noteTouch(sessionId: string, data: HostSessionData, interval: number): void {
    const known = this.get(sessionId)
    if (!known) return
    known.life = lifeOf(data)
    known.freshUntil = performance.now() + interval
  }
}

/** How often requests of signed-in users found their session in this process's memory. */
export interface CacheRate {
  /** How many requests of signed-in users have come since the last message. */
  readonly requests: number
  /** How many requests found their session. Each other request asked the store twice, one call after the other. */
  readonly hits: number
  /** How many requests did not even have to ask whether the session is live, because the store reports changes. */
  readonly unasked: number
  /** How many sessions the process remembers. */
  readonly size: number
  /** How many sessions it may remember. */
  readonly capacity: number
}

const CHANNEL = channel('sessmgr.cache')
const KEY = 'cache-rate'
const EVERY_MS = 60_000
const KEPT_MS = 24 * 60 * 60_000

/**
 * Counts cache hits and misses in one process. Publishes the counts at most once a minute, and stores them for `sessmgr
 * doctor`.
 */
export class CacheCount {
  readonly #remembered: { readonly size: number }
  readonly #capacity: number
  readonly #transients: TransientStore
  /** Requests that found their session. */
  hits = 0
  /** Requests that found their session and did not have to ask whether it is live. */
  unasked = 0
  /** Requests that did not find their session. */
  misses = 0
  #next = performance.now() + EVERY_MS

  /** @param remembered The sessions that the process remembers. */
  constructor(remembered: { readonly size: number }, capacity: number, transients: TransientStore) {
    this.#remembered = remembered
    this.#capacity = capacity
    this.#transients = transients
  }

  /** Publishes the counts at most once a minute. Called only by requests that do more work than most. */
  tell(): void {
    if (performance.now() < this.#next) return
    const { hits, unasked, misses } = this
    const rate: CacheRate = {
      requests: hits + misses,
      hits,
      unasked,
      size: this.#remembered.size,
      capacity: this.#capacity,
    }
    this.#next = performance.now() + EVERY_MS
    this.hits = 0
    this.unasked = 0
    this.misses = 0
    CHANNEL.publish(rate)
    // Failures are ignored, because no request depends on this.
    this.#transients.set(KEY, JSON.stringify(rate), KEPT_MS).catch(() => {})
  }
}

/** Reads the counts that any process stored last. Resolves to undefined if they are more than a day old. */
export async function lastCacheRate(transients: TransientStore): Promise<CacheRate | undefined> {
  const text = await transients.get(KEY)
  return text === undefined ? undefined : JSON.parse(text)
}
