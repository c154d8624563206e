import { SessmgrError } from '../../ground/errors.ts'
import type { Logger } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import { maximumInForce } from '../../limiter/decision/maximum-in-force.ts'
import type { SessionLimiter } from '../../limiter/session-limiter.ts'
import type { SessionSettings } from '../../options/setting-rules.ts'

/** The next login logs the failure. A list would log it for each of its users, every time that it is read. */
const QUIET: Logger = { warn() {}, error() {} }

/**
 * Returns how many sessions a user may have; null means no limit. Resolves to undefined if a filter of the application
 * fails, because administrators must still be able to see and end sessions.
 *
 * @throws SessmgrError `store_unavailable`.
 */
export async function userLimit(
  { hooks, settings }: Pick<SessionLimiter, 'hooks' | 'settings'>,
  userId: UserId,
  current: SessionSettings,
): Promise<number | null | undefined> {
  try {
    return await maximumInForce({ hooks, settings, logger: QUIET }, userId, current)
  } catch (error) {
    if (!(error instanceof SessmgrError) || !error.code.startsWith('hook_')) throw error
    return undefined
  }
}
