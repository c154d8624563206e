import type { ApplicationPasswordStore } from '../auth/application-password-store.ts'
import type { OptionStore } from '../options/option-store.ts'
import type { TransientStore } from '../options/transient-store.ts'
import type { LogoutEpoch } from '../sessions/logout-epoch.ts'
import type { SessionRegistry } from '../sessions/session-registry.ts'
import type { VerdictWatch } from './verdict-watch.ts'

/** Everything that the service remembers. One store serves any number of processes, or one. */
export interface SessmgrStore {
  /**
   * Names this memory. A session that was registered under another id, or before `wipe`, counts as one from before the service.
   * The same over restarts if, and only if, the memory survives them.
   */
  readonly id: string
  /**
   * True when nothing outside this process sees what is kept here, as with `memoryStore()`: the command line then
   * changes nothing.
   *
   * @default false
   */
  readonly local?: boolean
  /** Knows who is logged in where. */
  readonly sessions: SessionRegistry
  /** Counts the site-wide logouts. */
  readonly epoch: LogoutEpoch
  /** Keeps settings, options of add-ons, and the secret that signs nonces and sessions. */
  readonly options: OptionStore
  /** Keeps application passwords, as hashes. */
  readonly passwords: ApplicationPasswordStore
  /** Keeps texts that may be gone at any moment. */
  readonly transients: TransientStore
  /** Learns of changes by itself, where the store can: then a request need not ask. */
  readonly watch?: VerdictWatch | undefined
  /**
   * Tells whether a session store holds all of these sessions, where one question can tell, as when both stores use one
   * client. False says nothing: then the session store is asked for each of them.
   */
  holdsAll?(sessionStore: object, sessionIds: readonly string[]): Promise<boolean>
  /** Forgets everything: every option and key of the service, and nothing else; the options first, and once more at the end. */
  wipe(): Promise<void>
  /** Lets go of what the store itself opened. */
  close(): Promise<void>
}
