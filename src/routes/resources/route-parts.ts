import { SessmgrError } from '../../ground/errors.ts'
import type { Logger } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Host } from '../../host/host.ts'
import type { FindSignedIn } from '../../host/signed-in-user.ts'
import { maximumInForce } from '../../limiter/decision/evaluate-login.ts'
import type { ErasedUser } from '../../limiter/ending/erase-user.ts'
import type { SessionLimiter } from '../../limiter/session-limiter.ts'
import type { SessionSettings } from '../../options/setting-rules.ts'
import type { EndedByWhom } from '../../sessions/session-end.ts'
import type { TextsFor } from '../../texts/texts-for.ts'
import type { HostDetails } from './host-details.ts'

/** What the routes of the session limit work on. */
export interface RouteParts {
  readonly limiter: SessionLimiter
  readonly host: Host
  readonly details: HostDetails
  readonly textsFor: TextsFor
  readonly findSignedIn: FindSignedIn
  /** Removes everything about a user. */
  eraseUser(userId: UserId, whom: EndedByWhom): Promise<ErasedUser>
  /** Counts the refused logins since a time. Resolves to null if this is unknown. */
  refusedSince(ms: number): Promise<number | null>
}

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
