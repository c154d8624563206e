import type { HostSessionData } from './host-types.ts'

/**
 * Life of a session whose cookie ends with the browser: the store alone knows when it forgets such a session.
 * Longer than stores keep it; a registered session that the store has lost is noticed before it counts.
 */
const BROWSER_SESSION_MS = 14 * 24 * 60 * 60_000

/** When a session expires, by its cookie or, under Koa, by a field of its own; nothing when it ends with the browser. */
export function expiryOf({ cookie, _expire }: HostSessionData): Date | string | number | null | undefined {
  return cookie?.expires ?? (_expire as number | undefined)
}

/** Milliseconds until a session expires. The difference of two readings of one clock, so skew does no harm. */
export function sessionTtl(data: HostSessionData): number {
  const expires = expiryOf(data)
  const ttl = expires ? new Date(expires).getTime() - Date.now() : BROWSER_SESSION_MS
  return Number.isFinite(ttl) ? Math.max(1, ttl) : BROWSER_SESSION_MS
}

/** Milliseconds that a session lives after each use, as its cookie says; undefined when it ends with the browser. */
export function lifeOf({ cookie, _maxAge }: HostSessionData): number | undefined {
  const life = cookie?.originalMaxAge ?? _maxAge
  return typeof life === 'number' ? life : undefined
}

/** Milliseconds between two notes that a session is in use: `touchEveryMs`, but never more than a tenth of its life. */
export function touchInterval(data: HostSessionData, touchEveryMs: number): number {
  return Math.min(touchEveryMs, (lifeOf(data) ?? BROWSER_SESSION_MS) / 10)
}
