import type { UserId } from '../ground/user-id.ts'
import type { Token } from './token.ts'

/**
 * Describes one login session, without secrets. Times are milliseconds since the Unix epoch, by the clock of the store.
 */
export interface SessionRecord {
  /** SHA-256 of the raw session id, 64 hex digits. It identifies the session in `sessions.end`, hooks and logs. */
  readonly token: Token
  /** Id of the user, in the type that your application uses: a string or an integer. */
  readonly userId: UserId
  /** Order of admission for this user: a larger number was admitted later. */
  readonly sequence: number
  /**
   * Time of registration, in milliseconds; usually the login.
   *
   * Some sessions are registered later, on their next use: sessions from before sessmgr, and sessions that a memory
   * store lost in a restart. A session whose id changes without a login is registered again. In these cases `ip`,
   * `userAgent` and `device` are null.
   */
  readonly createdAt: number
  /** Time of the last recorded use, in milliseconds. The last request may be up to `touchEvery` later. */
  readonly lastSeenAt: number
  /** Time of expiry unless it is used before, in milliseconds. */
  readonly expiresAt: number
  /**
   * Address of the client at login, as your framework's proxy settings determine it. At most 64 characters; null if
   * unknown.
   */
  readonly ip: string | null
  /** `User-Agent` header of the client at login. At most 512 characters; null if unknown. */
  readonly userAgent: string | null
  /**
   * Identifies the browser that logged in, to this user only: a hash of its device cookie, 16 characters. Null if
   * unknown, or without the option `device`.
   */
  readonly device: string | null
  /** Number of site-wide logouts before the login, or survived since; 0 for a session from before sessmgr. */
  readonly generation: number
}

/** A record with the raw session id, which the session store needs to delete it. Never leaves the process. */
export interface StoredSession {
  /** The public part. */
  readonly record: SessionRecord
  /** The raw session id. */
  readonly sessionId: string
}

/** A session to register. */
export interface NewSession {
  /** The raw session id. */
  readonly sessionId: string
  /** Milliseconds until the session expires, from the current time of the store. */
  readonly ttlMs: number
  /** As in {@link SessionRecord}. */
  readonly ip: string | null
  /** As in {@link SessionRecord}. */
  readonly userAgent: string | null
  /** As in {@link SessionRecord}. */
  readonly device: string | null
  /** As in {@link SessionRecord}. */
  readonly generation: number
}
