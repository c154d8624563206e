import type { ApplicationPasswordStore } from '../auth/application-passwords.ts'
import type { OptionStore } from '../options/option-store.ts'
import type { TransientStore } from '../options/transient-store.ts'
import type { PeopleIndex } from '../sessions/people-index.ts'
import type { LogoutEpoch, SessionRegistry } from '../sessions/session-registry.ts'
import type { StoreSignals } from './store-signals.ts'
import type { VerdictWatch } from './verdict-watch.ts'

/** Stores all of sessmgr's data, for one process or many. */
export interface SessmgrStore {
  /**
   * Identifies this data. Sessions registered under another id, or before `wipe`, count as older than sessmgr. After a
   * restart, the id is the same if, and only if, the data has survived.
   */
  readonly id: string
  /** Kind of store, such as `redis`, for the support report. */
  readonly name?: string | undefined
  /**
   * Whether the data is invisible to other processes, as with `memoryStore()`. The command line then refuses to change
   * it. @default false
   */
  readonly local?: boolean
  /** The login sessions of all users. */
  readonly sessions: SessionRegistry
  /** The number of site-wide logouts. */
  readonly epoch: LogoutEpoch
  /** Settings, add-on options, and the secret that signs nonces and sessions. */
  readonly options: OptionStore
  /** Application passwords, as hashes. */
  readonly passwords: ApplicationPasswordStore
  /** Cached strings, which may disappear at any moment. */
  readonly transients: TransientStore
  /** The people who are signed in, for the option `directory`. */
  readonly people?: PeopleIndex | undefined
  /** Follows changes if the store supports that, so that requests do not have to ask. */
  readonly watch?: VerdictWatch | undefined
  /**
   * Notifies other processes of ended sessions if the store supports that, so that they close open connections sooner.
   */
  readonly signals?: StoreSignals | undefined
  /**
   * Checks with one request whether a session store has all of these sessions, for example if both stores share a
   * client. False means unknown: the sessions are then checked one by one.
   */
  holdsAll?(sessionStore: object, sessionIds: readonly string[]): Promise<boolean>
  /** Describes settings of the server that matter, and the fix for those that are wrong, for `sessmgr doctor`. */
  report?(): Promise<readonly string[]>
  /** Deletes all of sessmgr's options and keys, and nothing else. Deletes the options first and again at the end. */
  wipe(): Promise<void>
  /** Closes what the store opened itself. */
  close(): Promise<void>
}
