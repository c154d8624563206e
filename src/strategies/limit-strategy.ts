import type { UserId } from '../ground/user-id.ts'
import type { SessionActions } from '../hooks/session-hooks.ts'
import type { SessionRecord } from '../sessions/session-record.ts'

/** The login that a mode decides on. Its user has reached the limit. */
export interface LimitContext {
  /** The user who logs in. */
  readonly userId: UserId
  /** The user's live sessions before the login, oldest first. */
  readonly sessions: readonly SessionRecord[]
  /** The sessions that should end last, because the `limits` option labels them differently from the login. */
  readonly others: readonly SessionRecord[]
  /**
   * Sessions of the browser that logs in that no request has come with since their login, oldest first. Perhaps nobody
   * has their cookies, as after a double click on "Sign in". They end first.
   */
  readonly neverUsed: readonly SessionRecord[]
  /** How many sessions the user may have; 1 or more. */
  readonly maximum: number
  /** The sessions that the user chose to end. They end if the login is admitted. */
  readonly chosen: readonly SessionRecord[]
  /** Time of the decision, in milliseconds since the Unix epoch, by the store's clock if known. */
  readonly now: number
  /**
   * How many milliseconds a session must be unused before it counts as idle and may end to make room. `Infinity` if the
   * `idle_release` setting is 0 or the store does not return its time.
   */
  readonly idleAfterMs: number
}

/** An action to fire once the decision has been carried out. */
export type LimitAction =
  | readonly [name: 'sessmgr_login_blocked', ...parameters: SessionActions['sessmgr_login_blocked']]
  | readonly [name: 'sessmgr_destroy_all_sessions', ...parameters: SessionActions['sessmgr_destroy_all_sessions']]
  | readonly [name: 'sessmgr_destroy_oldest_session', ...parameters: SessionActions['sessmgr_destroy_oldest_session']]
  | readonly [name: 'sessmgr_destroy_session', ...parameters: SessionActions['sessmgr_destroy_session']]

/** A mode's decision. */
export interface LimitDecision {
  /** Whether the login is admitted. If not, no session ends. */
  readonly admit: boolean
  /** Sessions to end if the login is admitted. */
  readonly end: readonly SessionRecord[]
  /** How many sessions the user must choose to end before the login is admitted. @default no choice */
  readonly choose?: number | undefined
  /**
   * Why the sessions end, as reported to the signed-out user. Those in `neverUsed` end as `never_used`, except with
   * `displaced`.
   *
   * @default 'displaced'
   */
  readonly kind?: 'displaced' | 'idle' | 'chosen' | undefined
  /** Actions to fire afterwards, in order. */
  readonly actions: readonly LimitAction[]
}

/** A mode, which decides what happens when a user at the limit logs in. */
export interface LimitStrategy {
  /** Stored value of the `logic` setting. */
  readonly id: string
  /** Display name of the mode. */
  readonly label: string
  /** What the mode does, in one sentence. */
  readonly desc: string
  /**
   * Decides on one login, synchronously. Must be pure, because it is called again if the sessions have changed in the
   * meantime.
   */
  decide(context: LimitContext): LimitDecision
  /**
   * Returns when a refused login could be admitted because sessions are idle, in milliseconds since the Unix epoch. The
   * message of the refusal names that time. @default unknown
   */
  releaseTime?(context: LimitContext): number | undefined
  /** Whether the mode asks users to choose sessions. @default false */
  readonly asks?: boolean
}
