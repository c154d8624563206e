import type { SessionRecord } from '../sessions/session-record.ts'
import type { LimitContext } from './limit-strategy.ts'

/** Returns how many sessions must end before the login fits in the limit. */
export function neededSlots({ sessions, maximum }: Pick<LimitContext, 'sessions' | 'maximum'>): number {
  return Math.max(1, sessions.length - maximum + 1)
}

/** Sorts sessions by their last use, longest ago first, and then by login. */
export function longestUnusedFirst(sessions: readonly SessionRecord[]): readonly SessionRecord[] {
  return sessions.toSorted((a, b) => a.lastSeenAt - b.lastSeenAt || a.sequence - b.sequence)
}

/** Returns the sessions that have been unused long enough to give up their slots, longest unused first. */
export function idleSessions({ sessions, now, idleAfterMs }: LimitContext): readonly SessionRecord[] {
  return longestUnusedFirst(sessions.filter(({ lastSeenAt }) => now - lastSeenAt >= idleAfterMs))
}
