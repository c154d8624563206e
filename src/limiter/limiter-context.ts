import type { Erasures } from '../auth/erasures.ts'
import type { Logger } from '../ground/logger.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { SettingsService } from '../options/session-settings.ts'
import type { HostSessions } from '../sessions/session-registry.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { LogicModes } from '../strategies/logic-catalogue.ts'
import type { LabelLimits } from './decision/label-group.ts'
import type { LoginOption } from './decision/login-option.ts'
import type { EndedNotes } from './ending/ended-notes.ts'
import type { Events } from './events.ts'

export interface LimiterContext {
  readonly store: Pick<SessmgrStore, 'local' | 'sessions' | 'epoch' | 'transients' | 'people'>
  readonly hooks: Hooks
  readonly settings: SettingsService
  readonly modes: LogicModes
  readonly hostSessions: HostSessions
  readonly logger: Logger
  readonly notes: EndedNotes
  readonly events: Events
  readonly erasures: Erasures
  /** Limits per label, if there are any. */
  readonly labels: LabelLimits | undefined
  /** Says what the session of a login is. */
  readonly login?: LoginOption | undefined
  /** Longest time between updates of a session's last use. */
  readonly touchEveryMs: number
  readonly outage: Outage
  /** How long the store may take, in milliseconds. */
  readonly deadlineMs: number
}

/** What this process has seen of outages of the store. */
export interface Outage {
  /** When a session could last not be checked or used, by `performance.now()`. */
  at: number
  /** Whether the store did not respond when it was last asked about a session. */
  isOn: boolean
}
