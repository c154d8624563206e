import type { UserId } from '../ground/user-id.ts'
import type { NewSession, StoredSession } from './session-record.ts'
import type { Token } from './token.ts'

/** Most sessions of one user. Each login of that user reads them all, which must not delay other users. */
export const MOST_SESSIONS = 1000

/** The sessions of one user at one moment. */
export interface UserSessions {
  /** Sessions that have not expired, oldest admission first, including those made stale by a site-wide logout. */
  readonly sessions: readonly StoredSession[]
  /** Changes with every change of the set. Only an empty set may repeat a version. Unknown users have one too. */
  readonly version: string
}

/** The changes that one login makes to a user's sessions. */
export interface SessionChange {
  /** The session to register. */
  readonly admit: NewSession
  /** Tokens to end. Unknown ones are ignored. */
  readonly end: readonly Token[]
  /**
   * Token of the session that this login continues. Nothing changes unless it is registered and no older than
   * `admit.generation`.
   */
  readonly continues?: Token | undefined
}

/** Result of a commit. */
export type CommitResult =
  | {
      /** Whether the change was made. */
      readonly committed: false
      /** True if the session that the login continues is over. Trying again does not help. */
      readonly isOver?: boolean
    }
  | {
      /** Whether the change was made. */
      readonly committed: true
      /** The session that was registered. */
      readonly admitted: StoredSession
      /** Sessions that this commit ended, oldest first. */
      readonly ended: readonly StoredSession[]
    }

/** Result of an adoption. */
export interface AdoptedSession extends StoredSession {
  /** True if this call has registered the session. */
  readonly isNew?: boolean
}

/**
 * Stores the login sessions of all users.
 *
 * Every method is atomic per user, across processes, and idempotent unless it says otherwise.
 * User ids with the same string form (2 and '2') are one user; a record keeps the type it was registered with.
 * Every method rejects with `store_unavailable` if the store cannot be reached; data may have changed or not.
 */
export interface SessionRegistry {
  /** Reads the sessions of a user, and the version to commit against. An unknown user has no sessions. */
  read(userId: UserId): Promise<UserSessions>
  /** Reads the generation of a session, as every request does. Undefined if it is unknown, ended or expired. */
  generationOf(userId: UserId, token: Token): Promise<number | undefined>
  /**
   * Registers a session and ends others if the sessions of the user are still at `version`; otherwise changes nothing.
   * Checks `change.continues` first, in the same step.
   *
   * The new session has a larger sequence than all current ones of the user. A token that is already registered is
   * replaced.
   */
  commit(userId: UserId, version: string, change: SessionChange): Promise<CommitResult>
  /**
   * Registers an existing session, whatever the version.
   *
   * Returns the record unchanged if it is already registered. Resolves to undefined, and changes nothing, if it is
   * among the last 32 sessions of the user that ended in the last ten minutes. The same applies if all (other) sessions
   * of the user were ended in the last 400 days.
   */
  adopt(userId: UserId, session: NewSession): Promise<AdoptedSession | undefined>
  /**
   * Records that a session was used and sets its expiry to now + `ttlMs`. Resolves to false if it is not registered.
   *
   * If the stored times are less than `freshMs` behind, the call may change nothing.
   */
  touch(userId: UserId, token: Token, ttlMs: number, freshMs?: number): Promise<boolean>
  /** Moves a session to a later generation, and changes the version. Resolves to false if it is not registered. */
  restamp(userId: UserId, token: Token, generation: number): Promise<boolean>
  /**
   * Ends the given sessions of a user, or all, and returns the sessions this call ended, oldest first.
   *
   * Ending all leaves a mark for 400 days, even if there were none: `adopt` then refuses every session of the user.
   */
  end(userId: UserId, tokens?: readonly Token[]): Promise<readonly StoredSession[]>
  /**
   * Ends all sessions of a user except one, and returns the sessions this call ended, oldest first. Leaves the same
   * mark as ending all.
   *
   * Resolves to undefined, and changes nothing, if the session to keep is not registered or has expired.
   */
  endOthers(userId: UserId, keep: Token): Promise<readonly StoredSession[] | undefined>
}

/** The session store of the application, as far as the limit needs it. */
export interface HostSessions {
  /** Whether the sessions may survive a restart. @default false */
  readonly mayLast?: boolean
  /** Checks whether the store still has a session. */
  exists(sessionId: string): Promise<boolean>
  /** Checks in one request whether the store has all of these sessions. False means that some may be missing. */
  holdsAll?(sessionIds: readonly string[]): Promise<boolean>
  /** Deletes a session. An unknown id is not an error. */
  destroy(sessionId: string): Promise<void>
}
