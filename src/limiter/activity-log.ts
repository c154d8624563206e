import type { PasswordChange } from '../auth/application-passwords.ts'
import type { UserId } from '../ground/user-id.ts'
import type { LimitReport, LoginRefusal, SessionStart } from '../hooks/session-hooks.ts'
import type { OptionChange } from '../options/option-change.ts'
import type { SessionEnd } from '../sessions/session-end.ts'
import type { SessionRecord } from '../sessions/session-record.ts'

/** The client of a refused login. */
export interface RefusedClient {
  readonly userId: UserId
  readonly ip: string | null
  readonly userAgent: string | null
}

/** Something that happened, before it becomes an event of the activity log. */
export type Activity =
  | readonly [type: 'session.started', session: SessionRecord, how: SessionStart]
  | readonly [type: 'session.ended', session: SessionRecord, end: SessionEnd]
  | readonly [type: 'login.refused', client: RefusedClient, refusal: LoginRefusal]
  | readonly [type: 'login.would_limit', userId: UserId, report: LimitReport]
  | readonly [type: 'logout.all', epoch: number, end: SessionEnd]
  | readonly [type: 'settings.changed', change: OptionChange]
  | readonly [type: 'application_password.created' | 'application_password.revoked', change: PasswordChange]

/** Receives what happens, for the activity log. */
export interface ActivityLog {
  /** Notes an activity. Does not wait and never throws. */
  note(...activity: Activity): void
  /**
   * Waits until everything noted so far is recorded. Undefined if logins do not wait for the record.
   *
   * @param session The session of a login that is not answered yet. If it must be taken back, rejects with
   * `store_unavailable`.
   */
  readonly recorded?: ((session?: SessionRecord) => Promise<void>) | undefined
}
