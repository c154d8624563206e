import type { Logger } from '../ground/logger.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { SettingsService } from '../options/session-settings.ts'
import type { StoredSession } from '../sessions/session-record.ts'
import type { HostSessions } from '../sessions/session-registry.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { LimitAction } from '../strategies/limit-strategy.ts'
import type { LogicModes } from '../strategies/logic-catalogue.ts'

/** What every use case works with. */
export interface LimiterContext {
  readonly store: SessmgrStore
  readonly hooks: Hooks
  readonly settings: SettingsService
  readonly modes: LogicModes
  readonly hostSessions: HostSessions
  readonly logger: Logger
  /** Fires actions in order without keeping the caller waiting for asynchronous subscribers. */
  announce(actions: readonly AnnouncedAction[]): void
  /** Deletes ended sessions from the host's store. Logs a failure: the registry has refused them already. */
  discard(sessions: readonly StoredSession[]): Promise<void>
}

/** An action with its parameters. */
export type AnnouncedAction =
  | LimitAction
  | readonly ['sessmgr_destroy_session' | 'sessmgr_session_invalidated', userId: string | number, token: string]
  | readonly ['sessmgr_logout_all_users', epoch: number]
