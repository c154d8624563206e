import type { UserId } from '../ground/user-id.ts'
import type { SessionActions } from '../hooks/session-hooks.ts'
import type { SessionRecord } from '../sessions/session-record.ts'

/** What a mode looks at: a user whose limit is reached, at one moment. */
export interface LimitContext {
  /** Who logs in. */
  readonly userId: UserId
  /** The user's live sessions before the login, oldest admission first. */
  readonly sessions: readonly SessionRecord[]
  /** Sessions that the user may hold; 1 or more. */
  readonly maximum: number
}

/** An action to fire once the decision has been carried out. */
export type LimitAction = {
  [K in 'sessmgr_login_blocked' | 'sessmgr_destroy_all_sessions' | 'sessmgr_destroy_oldest_session']: readonly [
    name: K,
    ...parameters: SessionActions[K],
  ]
}['sessmgr_login_blocked' | 'sessmgr_destroy_all_sessions' | 'sessmgr_destroy_oldest_session']

/** What a mode decides. */
export interface LimitDecision {
  /** Whether the login is admitted; false refuses it, and ends nothing. */
  readonly admit: boolean
  /** Sessions that end when the login is admitted. */
  readonly end: readonly SessionRecord[]
  /** Actions to fire afterwards, in order. */
  readonly actions: readonly LimitAction[]
}

/** Decides what happens to a login when the limit is reached. Pure: same context, same decision. */
export interface LimitStrategy {
  /** The stored value of the setting `logic`. */
  readonly id: string
  /** The name of the mode that people read. */
  readonly label: string
  /** What the mode does, in one sentence for people. */
  readonly desc: string
  /** Decides on one login. Called anew when another process has changed the sessions meanwhile; returns at once. */
  decide(context: LimitContext): LimitDecision
}
