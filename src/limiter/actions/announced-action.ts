import type { SessionActions } from '../../hooks/session-hooks.ts'
import type { LimitAction } from '../../strategies/limit-strategy.ts'

/** An action with its parameters. */
export type AnnouncedAction =
  | LimitAction
  | ActionCall<'sessmgr_destroy_session' | 'sessmgr_session_invalidated' | 'sessmgr_logout_all_users'>
  | ActionCall<'sessmgr_login_refused' | 'sessmgr_would_limit'>
  | ActionCall<'sessmgr_session_started' | 'sessmgr_session_ended' | 'sessmgr_new_device'>

type ActionCall<Names extends keyof SessionActions> = {
  [K in Names]: readonly [name: K, ...parameters: SessionActions[K]]
}[Names]
