import type { Logger } from '../../ground/logger.ts'
import type { Host } from '../../host/host.ts'
import type { HostDetails } from '../../host/host-details.ts'
import type { SessionLimiter } from '../../limiter/session-limiter.ts'
import type { TextsFor } from '../../texts/texts-for.ts'

/** What the routes of the session limit work on. */
export interface RouteParts {
  readonly limiter: SessionLimiter
  readonly host: Host
  readonly details: HostDetails
  readonly textsFor: TextsFor
  readonly logger: Logger
}
