import { SessmgrError } from '../../ground/errors.ts'
import { logError } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import { maximumInForce } from '../../limiter/decision/maximum-in-force.ts'
import type { SessionSettings } from '../../options/setting-rules.ts'
import type { RouteParts } from './route-parts.ts'

/**
 * Returns how many sessions a user may have; null means no limit. Resolves to undefined if a filter of the application
 * fails, because administrators must still be able to see and end sessions.
 *
 * @throws SessmgrError `store_unavailable`.
 */
export async function userLimit(
  { limiter: { hooks, settings }, logger }: Pick<RouteParts, 'limiter' | 'logger'>,
  userId: UserId,
  current: SessionSettings,
): Promise<number | null | undefined> {
  try {
    return await maximumInForce({ hooks, settings, logger }, userId, current)
  } catch (error) {
    if (!(error instanceof SessmgrError) || !error.code.startsWith('hook_')) throw error
    logError(logger, error)
    return undefined
  }
}
