import type { UserId } from '../ground/user-id.ts'
import type { Token } from '../sessions/token.ts'

/** A session as a process remembers it, with what the watch knows of it. */
export interface WatchedSession {
  /** Whose session it is. */
  readonly userId: UserId
  /** The name of the session. */
  readonly token: Token
  /** What the watch knows of the session. Nobody else reads or writes it. */
  knowledge?: object | undefined
}

/**
 * Follows the sessions that this process has seen, so that a request need not ask whether its own is live.
 *
 * The store tells of every change of what was read over one connection, the watched one. A request reads its session over
 * that connection too: when the reply is there, everything that changed before has been told.
 *
 * @remarks
 * What it promises: a session that was ended before a request began is never live for that request, whichever process
 * ended it, by whatever way. Not knowing is always allowed, and a doubt is answered by knowing nothing: the request then
 * asks the registry and the epoch. An implementation must show, under load and over two processes, that
 *
 * - a change is told before any later reply on the watched connection, and handled before that reply is;
 * - what it knows was noted before it was read, and dropped by a change that is told in between;
 * - it knows nothing any more once the connection is lost, or may not have told of something.
 */
export interface VerdictWatch {
  /** Returns the session store reading over the watched connection; undefined when there is none, or none for this store. */
  reading<Store extends object>(store: Store): Store | undefined
  /** Begins to read a session over the watched connection. Comes before the reading itself; returns what `isLive` asks for. */
  begin(session: WatchedSession): number
  /** Returns true when a session was live after its reading began. False says nothing: ask the registry and the epoch. */
  isLive(session: WatchedSession, begun: number): boolean
  /** Is told that a reading was not answered in time. Drops the connection, and does without one for a while. */
  drop(): void
  /** Resolves why requests whose sessions lie in `store`, if it is given, do without the watch; undefined when they use it. */
  whyNot(store?: object): Promise<string | undefined>
}
