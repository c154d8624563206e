import { type Logger, warnOnce } from '../ground/logger.ts'
import type { HostSessionData } from './host-types.ts'

const DAY_MS = 24 * 60 * 60_000

/** Assumed lifetime of a session whose cookie ends with the browser, in a store that does not tell its own default. */
const BROWSER_SESSION_MS = 14 * DAY_MS

/** Stores count whole seconds, and a session is written a little after its expiry was set. */
const SLACK_MS = 5000

const SHORTENED =
  'The session store keeps a session for a shorter time than its cookie, and the session ends then. Remove the option ' +
  'ttl of the session store, or give the cookie the same maxAge.'

/**
 * Returns when a session expires, according to its cookie or, in Koa, to its own field. Undefined if it ends with the
 * browser.
 */
export function expiryOf({ cookie, _expire }: HostSessionData): Date | string | number | null | undefined {
  return cookie?.expires ?? (_expire as number | undefined)
}

/**
 * Returns the milliseconds until a session expires, zero or less if it has expired. Undefined if it ends with the
 * browser. Both times are from the same clock, so skew does not matter.
 */
export function cookieTtl(data: HostSessionData): number | undefined {
  const expires = expiryOf(data)
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
  return Boolean(expiryOf(data)) && cookieTtl(data) === undefined
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
    return Boolean(expiryOf(data)) || this.#inStore(data) !== undefined
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
}
