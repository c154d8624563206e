import type { UserId } from '../ground/user-id.ts'
import type { SessionActions } from '../hooks/session-hooks.ts'
import type { SessionRecord } from '../sessions/session-record.ts'

/** The data a mode decides on: a user at the limit. */
export interface LimitContext {
  /** The user who logs in. */
  readonly userId: UserId
  /** Live sessions of the user before the login, oldest admission first. */
  readonly sessions: readonly SessionRecord[]
  /** Sessions that the user may have; 1 or more. */
  readonly maximum: number
}

/** An action to fire after the decision was carried out. */
export type LimitAction = {
  [K in 'sessmgr_login_blocked' | 'sessmgr_destroy_all_sessions' | 'sessmgr_destroy_oldest_session']: readonly [
    name: K,
    ...parameters: SessionActions[K],
  ]
}['sessmgr_login_blocked' | 'sessmgr_destroy_all_sessions' | 'sessmgr_destroy_oldest_session']

/** The decision of a mode. */
export interface LimitDecision {
  /** Whether the login is admitted. If not, no session ends. */
  readonly admit: boolean
  /** Sessions to end if the login is admitted. */
  readonly end: readonly SessionRecord[]
  /** Actions to fire afterwards, in order. */
  readonly actions: readonly LimitAction[]
}

/** Decides what happens to a login at the limit. Must be pure: the same context, the same decision. */
export interface LimitStrategy {
  /** Stored value of the setting `logic`. */
  readonly id: string
  /** Display name of the mode. */
  readonly label: string
  /** What the mode does, in one sentence for people. */
  readonly desc: string
  /** Decides on one login, synchronously. Called again if another process has changed the sessions meanwhile. */
  decide(context: LimitContext): LimitDecision
}
