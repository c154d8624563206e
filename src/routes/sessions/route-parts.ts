import type { Host } from '../../host/host.ts'
import type { FindSignedIn } from '../../host/signed-in-user.ts'
import type { SessionLimiter } from '../../limiter/session-limiter.ts'
import type { TextsFor } from '../../texts/texts-for.ts'
import type { HostDetails } from '../people/host-details.ts'

/** What the routes of the session limit work on. */
export interface RouteParts {
  readonly limiter: SessionLimiter
  readonly host: Host
  readonly details: HostDetails
  readonly textsFor: TextsFor
  readonly findSignedIn: FindSignedIn
  /** Counts the refused logins since a time. Resolves to null if this is unknown. */
  refusedSince(ms: number): Promise<number | null>
}
