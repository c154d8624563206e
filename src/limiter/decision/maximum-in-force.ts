import type { UserId } from '../../ground/user-id.ts'
import type { SessionSettings } from '../../options/setting-rules.ts'
import type { LimiterContext } from '../limiter-context.ts'
import { isEnforced } from './report-only.ts'

/**
 * Returns how many sessions a user may have. Resolves to null if the user is exempt, or if the limit is not enforced.
 *
 * @param current The current settings.
 * @throws SessmgrError `hook_failed`, `hook_timeout`.
 */
export async function maximumInForce(
  { hooks, settings, logger }: Pick<LimiterContext, 'hooks' | 'settings' | 'logger'>,
  userId: UserId,
  current: SessionSettings,
): Promise<number | null> {
  const isExempt = await hooks.applyFilters('sessmgr_bypass', false, userId)
  if (isExempt === true || !(await isEnforced({ hooks, logger }, current.enforce, userId))) return null
  return settings.maximumOf(userId, current)
}
