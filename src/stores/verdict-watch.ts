import type { UserId } from '../ground/user-id.ts'
import type { Token } from '../sessions/session-record.ts'

/** A session that a process remembers, and what the watch knows about it. */
export interface WatchedSession {
  /** Id of the user. */
  readonly userId: UserId
  /** Token of the session. */
  readonly token: Token
  /** What the watch knows about the session. Only the watch reads or writes it. */
  knowledge?: object | undefined
}

/**
 * Follows the sessions that this process has seen, so that requests do not have to ask whether their session is live.
 *
 * The store reports every change to what was read on one connection, the watched one. A request reads its session on
 * that connection as well: when the reply arrives, all earlier changes have been reported.
 *
 * @remarks A session that ended before a request began must never count as live for that request, whichever process
 * ended it. If the watch does not know, the request asks the registry and the epoch. An implementation must show, under
 * load and across two processes, that
 *
 * - a change is reported before any later reply on the watched connection, and handled before that reply;
 * - what it knows was recorded before the read, and dropped by a change in between;
 * - it knows nothing once the connection is lost, or once it may have missed a report.
 */
export interface VerdictWatch {
  /** Returns the session store, but reading on the watched connection. Undefined if that is not possible. */
  reading<Store extends object>(store: Store): Store | undefined
  /** Starts reading a session on the watched connection. Call it before the read, and pass the result to `isLive`. */
  begin(session: WatchedSession): number
  /** Returns true if the session was live after its read began. False means unknown: ask the registry and the epoch. */
  isLive(session: WatchedSession, begun: number): boolean
  /** Called when a read was not answered in time. Drops the connection, and opens no new one for a while. */
  drop(): void
  /** Resolves to the reason why requests with sessions in `store` do not use the watch, or to undefined if they do. */
  whyNot(store?: object): Promise<string | undefined>
}
