import type { SessmgrError } from '../../ground/errors.ts'
import { logError } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { AnnouncedAction } from '../actions/announced-action.ts'
import type { LimiterContext } from '../limiter-context.ts'
import type { ReachedLimit } from './decide-by-limits.ts'
import { verdictOf } from './verdict-of.ts'

/** Checks whether the limit is enforced for a user. If the filter fails, the limit stays on. */
export async function isEnforced(
  { hooks, logger }: Pick<LimiterContext, 'hooks' | 'logger'>,
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

/** A limit that a login has reached, and the mode that decided about it. */
export type DecidedLimit = ReachedLimit & { readonly mode: string }

/** Describes a limit that a login has reached, for actions. */
export function limitOf({ mode, label, context: { maximum, sessions } }: DecidedLimit) {
  return { mode, maximum, live: sessions.length, ...(label !== undefined && { label }) }
}

/**
 * Returns the action that reports a decision that was not carried out, or no action if the decision would have changed
 * nothing.
 */
export function reportOf(limit: DecidedLimit, canAsk = false): readonly AnnouncedAction[] {
  const { admit, end, choose } = limit.decision
  if (admit && end.length === 0) return []
  const refusal = choose !== undefined && canAsk ? 'ask' : 'refuse'
  const tokens = end.map(({ token }) => token)
  return [['sessmgr_would_limit', limit.context.userId, { ...limitOf(limit), would: admit ? 'end' : refusal, tokens }]]
}
