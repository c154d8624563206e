import type { UserId } from '../ground/user-id.ts'
import type { Token } from './token.ts'

/** One login session as everybody may see it. Times are milliseconds since the Unix epoch, by the store's clock. */
export interface SessionRecord {
  /** SHA-256 of the raw session id, 64 hex digits: what names the session to `sessions.end`, hooks and logs. */
  readonly token: Token
  /** Whose session it is, in the type that the application gave it: a text or a whole number. */
  readonly userId: UserId
  /** Order of admission within the user: a larger number was admitted later. */
  readonly sequence: number
  /**
   * When it was registered, in milliseconds: at its login, as a rule.
   *
   * A session from before sessmgr, and one that a memory store has lost in a restart, is registered when it is used
   * next; one whose id the application exchanges without a login is registered anew, under the new id. `createdAt`
   * is that moment then, and `ip` and `userAgent` are null.
   */
  readonly createdAt: number
  /** When it was last noted to be in use, in milliseconds; its last request may be up to `touchEvery` later. */
  readonly lastSeenAt: number
  /** When it expires unless it is used before, in milliseconds. */
  readonly expiresAt: number
  /** Address of the client at login, as the host's trusted-proxy rules give it, 64 characters at most; null if unknown. */
  readonly ip: string | null
  /** Header `User-Agent` of the client at login, 512 characters at most; null if there was none, or it is unknown. */
  readonly userAgent: string | null
  /** How many site-wide logouts it has come after, or was spared by; 0 for a session from before sessmgr. */
  readonly generation: number
}

/** A record with the raw session id, by which alone the host's store can delete it. Never leaves the process. */
export interface StoredSession {
  /** What everybody may see of it. */
  readonly record: SessionRecord
  /** The raw session id. */
  readonly sessionId: string
}

/** A session about to be registered. */
export interface NewSession {
  /** The raw session id. */
  readonly sessionId: string
  /** Milliseconds until the session expires, counted from the store's now. */
  readonly ttlMs: number
  /** As in {@link SessionRecord}. */
  readonly ip: string | null
  /** As in {@link SessionRecord}. */
  readonly userAgent: string | null
  /** As in {@link SessionRecord}. */
  readonly generation: number
}
