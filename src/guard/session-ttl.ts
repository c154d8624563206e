import type { HostSessionData } from './host-types.ts'

/**
 * Assumed lifetime of a session whose cookie ends with the browser, because only the store knows the real one. Stores
 * keep sessions for less time, and a lost session is noticed before it counts.
 */
const BROWSER_SESSION_MS = 14 * 24 * 60 * 60_000

/**
 * Returns when a session expires, according to its cookie or, in Koa, to its own field. Undefined if it ends with the
 * browser.
 */
export function expiryOf({ cookie, _expire }: HostSessionData): Date | string | number | null | undefined {
  return cookie?.expires ?? (_expire as number | undefined)
}

/** Returns the milliseconds until a session expires. Both times are from the same clock, so skew does not matter. */
export function sessionTtl(data: HostSessionData): number {
  const expires = expiryOf(data)
  const ttl = expires ? new Date(expires).getTime() - Date.now() : BROWSER_SESSION_MS
  return Number.isFinite(ttl) ? Math.max(1, ttl) : BROWSER_SESSION_MS
}

/**
 * Returns how many milliseconds a session lives after each use, according to its cookie. Undefined if it ends with the
 * browser.
 */
export function lifeOf({ cookie, _maxAge }: HostSessionData): number | undefined {
  const life = cookie?.originalMaxAge ?? _maxAge
  return typeof life === 'number' ? life : undefined
}

/**
 * Returns the milliseconds between updates of a session's last use: `touchEveryMs`, but at most a tenth of its
 * lifetime.
 */
export function touchInterval(data: HostSessionData, touchEveryMs: number): number {
  return Math.min(touchEveryMs, (lifeOf(data) ?? BROWSER_SESSION_MS) / 10)
}
