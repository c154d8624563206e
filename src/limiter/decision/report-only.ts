import type { SessmgrError } from '../../ground/errors.ts'
import { logError } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { LimitReport } from '../../hooks/session-hooks.ts'
import type { LimitDecision } from '../../strategies/limit-strategy.ts'
import type { AnnouncedAction, LimiterContext } from '../limiter-context.ts'
import { verdictOf } from './verdict-of.ts'

/** Checks whether the limit is enforced for a user. If the filter fails, the limit stays on. */
export async function isEnforced(
  { hooks, logger }: LimiterContext,
  setting: boolean,
  userId: UserId,
): Promise<boolean> {
  try {
    return await verdictOf(hooks, 'sessmgr_enforce', setting, userId)
  } catch (error) {
    logError(logger, error as SessmgrError)
    return true
  }
}

/**
 * Returns the action that reports a decision that was not carried out, or no action if the decision would have changed
 * nothing.
 */
export function reportOf(
  userId: UserId,
  { admit, end, choose }: LimitDecision,
  limit: Pick<LimitReport, 'mode' | 'maximum' | 'live'>,
  canAsk = false,
): readonly AnnouncedAction[] {
  if (admit && end.length === 0) return []
  const refusal = choose !== undefined && canAsk ? 'ask' : 'refuse'
  const report: LimitReport = { ...limit, would: admit ? 'end' : refusal, tokens: end.map(({ token }) => token) }
  return [['sessmgr_would_limit', userId, report]]
}
