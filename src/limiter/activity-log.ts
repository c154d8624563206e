import type { PasswordChange } from '../auth/application-passwords.ts'
import type { UserId } from '../ground/user-id.ts'
import type { LimitReport, LoginRefusal, SessionActions, SessionStart } from '../hooks/session-hooks.ts'
import type { ChangedByWhom, OptionChange } from '../options/option-change.ts'
import type { SessionEnd } from '../sessions/session-end.ts'
import type { SessionRecord } from '../sessions/session-record.ts'
import type { LimitAction } from '../strategies/limit-strategy.ts'

/** An action with its parameters. */
export type AnnouncedAction =
  | LimitAction
  | ActionCall<'sessmgr_destroy_session' | 'sessmgr_session_invalidated' | 'sessmgr_logout_all_users'>
  | ActionCall<'sessmgr_login_refused' | 'sessmgr_would_limit'>
  | ActionCall<'sessmgr_session_started' | 'sessmgr_session_ended' | 'sessmgr_new_device' | 'sessmgr_user_erased'>

type ActionCall<Names extends keyof SessionActions> = {
  [K in Names]: readonly [name: K, ...parameters: SessionActions[K]]
}[Names]

/** The client of a refused login. */
export interface RefusedClient {
  readonly userId: UserId
  readonly ip: string | null
  readonly userAgent: string | null
}

/** The erasure of a user, without the user. */
export interface UserErasure extends ChangedByWhom {
  /** How many sessions ended. */
  readonly sessions: number
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
  | readonly [type: 'user.erased', erasure: UserErasure]

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
