import type { ApplicationPasswordStore } from '../auth/application-passwords.ts'
import type { OptionStore } from '../options/option-store.ts'
import type { TransientStore } from '../options/transient-store.ts'
import type { PeopleIndex } from '../sessions/people-index.ts'
import type { Login } from '../sessions/session-record.ts'
import type { LogoutEpoch, SessionRegistry, SessionUse } from '../sessions/session-registry.ts'

/**
 * Stores all of sessmgr's data, for one process or many. `memoryStore()`, `sqliteStore()`, `postgresStore()`,
 * `redisStore()` and `documentStore()` create it. Its other parts are internal, and not in the published types.
 */
export interface SessmgrStore {
  /** Kind of store, such as `redis`, for the support report. */
  readonly name: string
  /**
   * @internal Whether the data is invisible to other processes, as with `memoryStore()`. The command line then refuses
   * to change it.
   */
  readonly local?: boolean
  /** @internal The login sessions of all users. */
  readonly sessions: SessionRegistry
  /** @internal What the last site-wide logout has left current. */
  readonly epoch: LogoutEpoch
  /** @internal Settings, add-on options, and the secret that signs nonces. */
  readonly options: OptionStore
  /** @internal Application passwords, as hashes. */
  readonly passwords: ApplicationPasswordStore
  /** @internal Short-lived strings, which may disappear at any time. */
  readonly transients: TransientStore
  /** @internal The people who are signed in, for the `directory` option. */
  readonly people: PeopleIndex
  /** @internal Follows changes if the store supports that, so that requests do not have to query it. */
  readonly watch?: VerdictWatch | undefined
  /**
   * @internal Notifies other processes of ended sessions if the store supports that, so that they close open
   * connections sooner.
   */
  readonly signals?: StoreSignals | undefined
  /**
   * @internal Checks with one request whether a session store has all of these sessions. False means unknown, for
   * example if the stores do not share a client: the sessions are then checked one by one.
   */
  holdsAll?(sessionStore: object, sessionIds: readonly string[]): Promise<boolean>
  /** @internal Checks whether a session store uses the same client, so that one outage concerns both. */
  sharesClient?(sessionStore: object): boolean
  /**
   * @internal Describes the server settings that matter, for `sessmgr doctor`. A setting that must be changed is a
   * `danger`.
   */
  report?(): Promise<
    readonly (
      | string
      | {
          /** What is wrong, and how to fix it. */
          readonly danger: string
        }
    )[]
  >
  /**
   * @internal Deletes all of sessmgr's options and keys, and nothing else. Deletes the options first and again at the
   * end.
   */
  wipe(): Promise<void>
  /** Closes what the store opened itself. */
  close(): Promise<void>
}

/** Receives the messages of a store. */
export interface SignalListener {
  /** Called with each message, including those of this process. */
  heard(message: string): void
  /** Called if messages may have been lost, for example while the connection was down. */
  missed(): void
}

/**
 * Passes short messages between the processes that use the same data.
 *
 * @remarks A message is only a hint: it may be late, repeated or lost, and anyone with access to the store may send
 * one.
 */
export interface StoreSignals {
  /** Sends a message of at most 7,000 ASCII characters to every subscriber. */
  publish(message: string): Promise<void>
  /**
   * Subscribes to the messages of all processes. Once subscribed, resolves to a function that ends the subscription.
   */
  subscribe(listener: SignalListener): Promise<() => Promise<void>>
}

/**
 * Value of `client` in objects that can read sessions with any client. A global symbol, because each entry point may
 * load its own copy of this module.
 */
export const ANY_CLIENT = Symbol.for('sessmgr.any-client')

/** A session that a process remembers, and what the watch knows about it. */
export interface WatchedSession extends Login {
  /** What the watch knows about the session. Only the watch reads or writes it. */
  knowledge?: object | undefined
  /** The last recorded use, if the watch has read it. */
  use?: SessionUse | undefined
  /** The generation of the current epoch, if the watch has found that a site-wide logout ended this session. */
  endedBefore?: number | undefined
}

/**
 * Follows the sessions that this process has seen, so that requests do not have to ask whether their session is live.
 *
 * On the watched connection, the store reports every change to data that was read on it. A request reads its session on
 * the same connection, so when the reply arrives, all earlier changes have been reported.
 *
 * @remarks A session that ended before a request began must never count as live for that request, whichever process
 * ended it. If the watch does not know, the request asks the registry and the epoch. Tests under load and across two
 * processes must show that
 *
 * - a change is reported before any later reply on the watched connection, and handled before that reply;
 * - an entry is created before the read that fills it, and a change in between discards it;
 * - the watch knows nothing once the connection is lost, or once it may have missed a report.
 */
export interface VerdictWatch {
  /** How many users to follow at most. The limiter sets it before the first request. */
  capacity?: number
  /**
   * Returns a view of the session store that reads over the watched connection. Undefined if `store` cannot be
   * read there.
   */
  reading<Store extends object>(store: Store): Store | undefined
  /** Marks the start of a read on the watched connection. Call it before the read, and pass the result to `isLive`. */
  begin(session: WatchedSession): number
  /** Returns true if the session was live after its read began. False means unknown: ask the registry and the epoch. */
  isLive(session: WatchedSession, begun: number): boolean
  /** Drops the connection, and opens no new one for a while. Called when a read was not answered in time. */
  drop(): void
  /** Resolves to the reason why requests with sessions in `store` do not use the watch, or to undefined if they do. */
  whyNot(store?: object): Promise<string | undefined>
}
