import { channel } from 'node:diagnostics_channel'
import { BoundedMap } from '../ground/bounded-map.ts'
import { type Logger, warnOnce } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { TransientStore } from '../options/transient-store.ts'
import type { Login, Token } from '../sessions/session-record.ts'
import type { SessionUse } from '../sessions/session-registry.ts'
import type { WatchedSession } from '../stores/store.ts'
import type { HostSessionData } from './host-types.ts'

const DAY_MS = 24 * 60 * 60_000

/** Assumed lifetime of a session whose cookie ends with the browser, in a store that does not tell its own default. */
const BROWSER_SESSION_MS = 14 * DAY_MS

/** Stores count whole seconds, and a session is written a little after its expiry was set. */
const SLACK_MS = 5000

const SHORTENED =
  "The session store keeps sessions for less time than their cookies last, so they end early. Remove the session store's " +
  '"ttl" option, or give the cookie the same maxAge.'

/**
 * Returns the milliseconds until a session expires, zero or less if it has expired: according to its cookie or, in Koa,
 * to its own field. Undefined if it ends with the browser. Both times are from the same clock, so skew does not matter.
 */
export function cookieTtl({ cookie, _expire }: HostSessionData): number | undefined {
  const expires = cookie?.expires ?? (_expire as number | undefined)
  const ttl = expires ? new Date(expires).getTime() - Date.now() : Number.NaN
  return Number.isFinite(ttl) ? ttl : undefined
}

/**
 * Returns how many milliseconds a session lives after each use, according to its cookie. Undefined if it ends with the
 * browser.
 */
export function lifeOf({ cookie, _maxAge }: HostSessionData): number | undefined {
  const life = cookie?.originalMaxAge ?? _maxAge
  return Number.isFinite(life) ? (life as number) : undefined
}

/** Checks whether the expiry of a session is an invalid date. express-session then sends no cookie. */
export function hasInvalidExpiry(data: HostSessionData): boolean {
  return Boolean(data.cookie?.expires ?? data._expire) && cookieTtl(data) === undefined
}

/** Returns the milliseconds for which a store keeps a session, or undefined if only its cookie matters. */
type StoreLife = (data: HostSessionData) => number | undefined

/** What session stores show of their own lifetime. */
interface TellingStore {
  /** connect-redis: the seconds of a session. Earlier versions name it with an underscore. */
  readonly getTTL?: (data: HostSessionData) => number
  readonly _getTTL?: (data: HostSessionData) => number
  /** connect-redis: whether sessions never expire. */
  readonly disableTTL?: boolean
  /** Seconds, for a cookie that ends with the browser. connect-mongo has it in its options. */
  readonly ttl?: unknown
  readonly options?: { readonly ttl?: unknown } | null
  /** connect-pg-simple, which keeps such sessions for a day by default. */
  readonly pruneSessions?: unknown
}

function storeLife(store: TellingStore): StoreLife {
  const { getTTL = store._getTTL, ttl = store.options?.ttl, disableTTL } = store
  if (disableTTL) return () => undefined
  if (typeof getTTL === 'function') {
    return (data) => {
      const seconds = getTTL.call(store, data)
      // connect-redis deletes such a session instead of writing it.
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
      warnOnce(this.#logger, 'session-store-shortens-sessions', SHORTENED)
    }
    const [own, most] = [inCookie ?? inStore ?? BROWSER_SESSION_MS, inStore ?? Number.POSITIVE_INFINITY]
    return Math.max(1, Math.round(Math.min(own, most)))
  }

  /** Checks whether a session has expired, as after the application has set a lifetime of zero or less. */
  isOver(data: HostSessionData): boolean {
    return (cookieTtl(data) ?? (hasInvalidExpiry(data) ? this.#inStore(data) : undefined) ?? 1) <= 0
  }

  /**
   * Checks whether it is known when a session expires. If not, every use must reach the store, which cannot take an
   * invalid date.
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
   * Returns until when a use that any process recorded in the registry counts as recent. Undefined if the session's
   * lifetime has changed since. The data is as stored, so the date in its cookie is from the last write.
   */
  freshUntil(data: HostSessionData, { usedAt, ttlMs }: SessionUse, touchEveryMs: number): number | undefined {
    const life = lifeOf(data) ?? this.#inStore(data) ?? BROWSER_SESSION_MS
    const interval = Math.min(touchEveryMs, life / 10)
    // If the clock was set back, the registry would keep the session too long unless its use is recorded again.
    if (usedAt > performance.now()) return undefined
    return Math.abs(life - ttlMs) <= Math.min(ROUNDING_MS, interval) ? usedAt + interval : undefined
  }
}

/** A lifetime is measured a little after the expiry was set. */
const ROUNDING_MS = 1000

/** What this process remembers about a login session. */
export class SeenSession implements WatchedSession {
  readonly token: Token
  /** The user that this session id belongs to, which never changes. */
  readonly userId: UserId
  /** The object that all requests share. It must not be modified. */
  readonly session: Login
  /** Lifetime of the session when its use was last recorded, according to its cookie. */
  life: number | undefined = undefined
  /** When its use must be recorded again, by `performance.now()`. */
  freshUntil = Number.NEGATIVE_INFINITY
  knowledge: object | undefined = undefined
  use: SessionUse | undefined = undefined
  endedBefore: number | undefined = undefined

  constructor(userId: UserId, token: Token) {
    this.userId = userId
    this.token = token
    this.session = Object.freeze({ userId, token })
  }
}

/** Remembers recently seen login sessions by raw id, so that a request can check one before reading it. */
export class SeenSessions extends BoundedMap<string, SeenSession> {
  /** Whether any login session has been seen yet. */
  hasSeen = false

  /** Remembers a session, and keeps what is already known about it. */
  note(sessionId: string, userId: UserId, token: Token): SeenSession {
    this.hasSeen = true
    const known = this.get(sessionId)
    const isSame = known !== undefined && (known.userId === userId || String(known.userId) === String(userId))
    const seen = isSame ? known : new SeenSession(userId, token)
    this.set(sessionId, seen)
    return seen
  }

  /** Forgets all sessions of a user, and returns their ids. */
  forget(userId: UserId): string[] {
    const own = [...this].filter(([, seen]) => String(seen.userId) === String(userId)).map(([sessionId]) => sessionId)
    for (const sessionId of own) this.delete(sessionId)
    return own
  }

  /** Checks whether the use of a session was recorded in the registry recently enough. */
  isFresh(sessionId: string, data: HostSessionData): boolean {
    const known = this.get(sessionId)
    // If the application has changed the lifetime, for example with cookie.maxAge, it must be written at once.
    return known !== undefined && performance.now() < known.freshUntil && known.life === lifeOf(data)
  }

  /** Checks whether the application has changed the lifetime of a session since its use was last recorded here. */
  hasOtherLife(sessionId: string, data: HostSessionData): boolean {
    const known = this.get(sessionId)
    return known !== undefined && Number.isFinite(known.freshUntil) && known.life !== lifeOf(data)
  }

  /** Records that the use of a session is being written, and need not be written again for `interval` milliseconds. */
  noteTouch(sessionId: string, data: HostSessionData, interval: number): void {
    const known = this.get(sessionId)
    if (!known) return
    known.life = lifeOf(data)
    known.freshUntil = performance.now() + interval
    // Set again to become the newest entry, so that sessions in use are kept longest.
    this.set(sessionId, known)
  }
}

/** How often requests of signed-in users found their session in the memory of their process. */
export interface CacheRate {
  /** How many requests came since the last message. */
  readonly requests: number
  /** How many of them found their session. Each of the others asked the store twice, in sequence. */
  readonly hits: number
  /** How many did not have to ask whether it is live, because the store reports changes. */
  readonly unasked: number
  /** How many sessions the process remembers, and how many it may remember. */
  readonly size: number
  readonly capacity: number
}

const CHANNEL = channel('sessmgr.cache')
const KEY = 'cache-rate'
const EVERY_MS = 60_000
const KEPT_MS = 24 * 60 * 60_000

/** Counts for one process, publishes once a minute, and leaves the numbers in the store for `sessmgr doctor`. */
export class CacheCount {
  readonly #remembered: { readonly size: number }
  readonly #capacity: number
  readonly #transients: TransientStore
  /** Requests that found their session, those of them that asked nothing, and those that did not find it. */
  hits = 0
  unasked = 0
  misses = 0
  #next = performance.now() + EVERY_MS

  /** @param remembered The sessions that the process remembers. */
  constructor(remembered: { readonly size: number }, capacity: number, transients: TransientStore) {
    this.#remembered = remembered
    this.#capacity = capacity
    this.#transients = transients
  }

  /** Publishes the numbers at most once a minute. Called only by requests that do more work than most. */
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
    // No request depends on it.
    this.#transients.set(KEY, JSON.stringify(rate), KEPT_MS).catch(() => {})
  }
}

/** Reads the numbers that a process last stored. Resolves to undefined if none did within a day. */
export async function lastCacheRate(transients: TransientStore): Promise<CacheRate | undefined> {
  const text = await transients.get(KEY)
  return text === undefined ? undefined : JSON.parse(text)
}

const MOST_LEFT = 10_000
/** Longer than a browser usually waits for a page. */
const REMEMBERED_MS = 120_000

/**
 * Raw ids of sessions that a login in this process has just replaced. A request that the browser sent before the response
 * to the login still carries the old id, and must not remove the new cookie.
 */
export class LeftSessions {
  readonly #left = new BoundedMap<string, number>(MOST_LEFT)

  note(sessionId: string, now = performance.now()): void {
    this.#left.set(sessionId, now + REMEMBERED_MS)
  }

  has(sessionId: string, now = performance.now()): boolean {
    return now < (this.#left.get(sessionId) ?? 0)
  }
}
