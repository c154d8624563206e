import type { SessionRecord } from '../sessions/session-record.ts'
import type { LimitAction, LimitContext } from './limit-strategy.ts'

/** Returns how many sessions must end for the login to fit within the limit. */
export function neededSlots({ sessions, maximum }: Pick<LimitContext, 'sessions' | 'maximum'>): number {
  return Math.max(1, sessions.length - maximum + 1)
}

/**
 * Returns the sessions in the order in which they should end: first those with the login's label, then the others. Each
 * group is sorted oldest first.
 */
export function oldestFirst({ sessions, others }: LimitContext): readonly SessionRecord[] {
  return othersLast(sessions, others)
}

/** Returns the sessions in the same two groups as {@link oldestFirst}, each sorted by last use and then by login. */
export function longestUnusedFirst({
  sessions,
  others,
}: Pick<LimitContext, 'sessions' | 'others'>): readonly SessionRecord[] {
  const sorted = sessions.toSorted((a, b) => a.lastSeenAt - b.lastSeenAt || a.sequence - b.sequence)
  return othersLast(sorted, others)
}

/** Returns the idle sessions, longest unused first. */
export function idleSessions(context: LimitContext): readonly SessionRecord[] {
  const idle = context.sessions.filter((session) => isIdle(session, context))
  return longestUnusedFirst({ ...context, sessions: idle })
}

/** Checks whether a session is idle: unused for at least `idleAfterMs`. */
export function isIdle(
  { lastSeenAt }: SessionRecord,
  { now, idleAfterMs }: Pick<LimitContext, 'now' | 'idleAfterMs'>,
): boolean {
  return now - lastSeenAt >= idleAfterMs
}

/** Returns one `sessmgr_destroy_session` action for each session that ends because it was unused. */
export function unusedActions(ended: readonly SessionRecord[]): readonly LimitAction[] {
  return ended.map(({ userId, token }) => ['sessmgr_destroy_session', userId, token])
}

function othersLast(sessions: readonly SessionRecord[], others: readonly SessionRecord[]): readonly SessionRecord[] {
  if (others.length === 0) return sessions
  return [
    ...sessions.filter((session) => !others.includes(session)),
    ...sessions.filter((session) => others.includes(session)),
  ]
}
