import type { HostSessionData } from './host-types.ts'

/**
 * Life of a session whose cookie ends with the browser: the store alone knows when it forgets such a session.
 * Longer than stores keep it; a registered session that the store has lost is noticed before it counts.
 */
const BROWSER_SESSION_MS = 14 * 24 * 60 * 60_000

/** Milliseconds until a session expires, by its cookie. The difference of two readings of one clock, so skew does no harm. */
export function sessionTtl(data: HostSessionData): number {
  const expires = data.cookie?.expires
  const ttl = expires ? new Date(expires).getTime() - Date.now() : BROWSER_SESSION_MS
  return Number.isFinite(ttl) ? Math.max(1, ttl) : BROWSER_SESSION_MS
}

/** Milliseconds between two notes that a session is in use: `touchEveryMs`, but never more than a tenth of its life. */
export function touchInterval(data: HostSessionData, touchEveryMs: number): number {
  return Math.min(touchEveryMs, (data.cookie?.originalMaxAge ?? BROWSER_SESSION_MS) / 10)
}
