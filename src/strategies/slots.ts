import type { SessionRecord } from '../sessions/session-record.ts'
import type { LimitAction, LimitContext } from './limit-strategy.ts'

/** Returns how many sessions must end for the login to fit within the limit. */
export function neededSlots({ sessions, maximum }: Pick<LimitContext, 'sessions' | 'maximum'>): number {
  return Math.max(1, sessions.length - maximum + 1)
}

type Ordered = Pick<LimitContext, 'sessions' | 'neverUsed' | 'others'>

/**
 * Returns the sessions in the order in which they should end: first those that nobody has, then those with the login's
 * label, then the others. Each group is sorted oldest first.
 */
export function oldestFirst({ sessions, neverUsed, others }: Ordered): readonly SessionRecord[] {
  if (neverUsed.length + others.length === 0) return sessions
  const rest = sessions.filter((session) => !neverUsed.includes(session))
  return [
    ...neverUsed,
    ...rest.filter((session) => !others.includes(session)),
    ...rest.filter((session) => others.includes(session)),
  ]
}

/** Returns the sessions in the same groups as {@link oldestFirst}, each sorted by last use and then by login. */
export function longestUnusedFirst({ sessions, ...groups }: Ordered): readonly SessionRecord[] {
  const sorted = sessions.toSorted((a, b) => a.lastSeenAt - b.lastSeenAt || a.sequence - b.sequence)
  return oldestFirst({ sessions: sorted, ...groups })
}

/** How long a browser may take for its first request with a new session, before a mode that refuses ends that session. */
const TAKING_UP_MS = 10_000

/** Returns the sessions that a mode that refuses may end: those that nobody has, then idle ones, longest unused first. */
export function spareSessions(context: LimitContext): readonly SessionRecord[] {
  const { sessions, maximum, now } = context
  // A limit that the application has declared reached is not for a mode to soften.
  const isCounted = sessions.length >= maximum
  const neverUsed = context.neverUsed.filter(({ createdAt }) => isCounted && now - createdAt > TAKING_UP_MS)
  const spare = sessions.filter((session) => neverUsed.includes(session) || isIdle(session, context))
  return longestUnusedFirst({ ...context, neverUsed, sessions: spare })
}

/**
 * Returns when a login could be admitted because enough sessions will have expired or become idle. Undefined if unused
 * sessions keep their slots.
 */
export function releaseTime(context: LimitContext): number | undefined {
  const { sessions, idleAfterMs } = context
  if (!Number.isFinite(idleAfterMs)) return undefined
  const free = sessions.map(({ lastSeenAt, expiresAt }) => Math.min(lastSeenAt + idleAfterMs, expiresAt))
  return free.toSorted((a, b) => a - b)[neededSlots(context) - 1]
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
