import { warnOnce } from '../../ground/logger.ts'
import type { SessionSettings } from '../../options/setting-rules.ts'
import type { SessionChange, UserSessions } from '../../sessions/session-registry.ts'
import type { LimitContext, LimitDecision } from '../../strategies/limit-strategy.ts'
import { isIdle } from '../../strategies/slots.ts'
import type { LimiterContext } from '../limiter-context.ts'

/** How many updates of its last use a session must have missed before it counts as unused. */
const MISSED_UPDATES = 3
const NO_CLOCK =
  'The setting idle_release has no effect, because this store does not return its time. Its sessions.read() must return ' +
  '`now`, and its sessions.commit() must check `unlessUsedWithin`.'

/** Returns the times from which modes determine which sessions have been unused for long. */
export function idleTime(
  { touchEveryMs, logger }: LimiterContext,
  { idle_release }: SessionSettings,
  { now }: UserSessions,
): Pick<LimitContext, 'now' | 'idleAfterMs'> {
  const isOn = idle_release > 0
  if (isOn && now === undefined) warnOnce(logger, 'idle-release-has-no-effect', NO_CLOCK)
  if (!isOn || now === undefined) return { now: now ?? Date.now(), idleAfterMs: Number.POSITIVE_INFINITY }
  return { now, idleAfterMs: Math.max(idle_release * 1000, MISSED_UPDATES * touchEveryMs) }
}

/** Returns the sessions of a decision that must still be unused at the commit. */
export function unusedSessions({ end, kind }: LimitDecision, context: LimitContext): SessionChange['unlessUsedWithin'] {
  if (kind !== 'idle') return undefined
  const tokens = end.filter((session) => isIdle(session, context)).map(({ token }) => token)
  return tokens.length === 0 ? undefined : { tokens, ms: context.idleAfterMs }
}
