import type { SessionRecord } from '../sessions/session-record.ts'
import type { LimitAction, LimitContext } from './limit-strategy.ts'

/** Returns how many sessions must end before the login fits in the limit. */
export function neededSlots({ sessions, maximum }: Pick<LimitContext, 'sessions' | 'maximum'>): number {
  return Math.max(1, sessions.length - maximum + 1)
}

/**
 * Sorts sessions in the order in which they should end: first those with the login's label, then the others, oldest
 * first.
 */
export function oldestFirst({ sessions, others }: LimitContext): readonly SessionRecord[] {
  return othersLast(sessions, others)
}

/** Sorts sessions like {@link oldestFirst}, but by their last use, and then by login. */
export function longestUnusedFirst({
  sessions,
  others,
}: Pick<LimitContext, 'sessions' | 'others'>): readonly SessionRecord[] {
  const sorted = sessions.toSorted((a, b) => a.lastSeenAt - b.lastSeenAt || a.sequence - b.sequence)
  return othersLast(sorted, others)
}

/** Returns the sessions that have been unused long enough to give up their slots, longest unused first. */
export function idleSessions(context: LimitContext): readonly SessionRecord[] {
  const idle = context.sessions.filter((session) => isIdle(session, context))
  return longestUnusedFirst({ ...context, sessions: idle })
}

/** Checks whether a session has been unused long enough to give up its slot. */
export function isIdle(
  { lastSeenAt }: SessionRecord,
  { now, idleAfterMs }: Pick<LimitContext, 'now' | 'idleAfterMs'>,
): boolean {
  return now - lastSeenAt >= idleAfterMs
}

/** Returns the actions that report the end of unused sessions, which no action of a mode describes. */
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
