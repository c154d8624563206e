import type { ApplicationPasswordStore } from '../auth/application-password-store.ts'
import type { OptionStore } from '../options/option-store.ts'
import type { TransientStore } from '../options/transient-store.ts'
import type { LogoutEpoch } from '../sessions/logout-epoch.ts'
import type { SessionRegistry } from '../sessions/session-registry.ts'

/** Everything that the service remembers. One store serves any number of processes, or one. */
export interface SessmgrStore {
  /**
   * Names this memory. A session that was registered under another id counts as one from before the service.
   * The same over restarts if, and only if, the memory survives them.
   */
  readonly id: string
  readonly sessions: SessionRegistry
  readonly epoch: LogoutEpoch
  readonly options: OptionStore
  readonly passwords: ApplicationPasswordStore
  readonly transients: TransientStore
  /** Forgets everything: every option and key of the service, and nothing else. */
  wipe(): Promise<void>
  /** Lets go of what the store itself opened. */
  close(): Promise<void>
}
