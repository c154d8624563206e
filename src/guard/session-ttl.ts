import type { HostSessionData } from './host-types.ts'

/**
 * Lifetime of a session whose cookie ends with the browser: only the store knows it. This is longer than stores keep
 * one; a lost session is noticed before it counts.
 */
const BROWSER_SESSION_MS = 14 * 24 * 60 * 60_000

/** Returns when a session expires, from its cookie or, in Koa, its own field; undefined if it ends with the browser. */
export function expiryOf({ cookie, _expire }: HostSessionData): Date | string | number | null | undefined {
  return cookie?.expires ?? (_expire as number | undefined)
}

/** Returns the milliseconds until a session expires. Both times are from one clock, so skew does not matter. */
export function sessionTtl(data: HostSessionData): number {
  const expires = expiryOf(data)
  const ttl = expires ? new Date(expires).getTime() - Date.now() : BROWSER_SESSION_MS
  return Number.isFinite(ttl) ? Math.max(1, ttl) : BROWSER_SESSION_MS
}

/**
 * Returns the milliseconds that a session lives after each use, from its cookie; undefined if it ends with the browser.
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
