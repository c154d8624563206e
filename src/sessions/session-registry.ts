import type { UserId } from '../ground/user-id.ts'
import type { NewSession, StoredSession } from './session-record.ts'
import type { Token } from './token.ts'

/** How many sessions one user may have: each login of theirs reads them all, and nobody else may have to wait for that. */
export const MOST_SESSIONS = 1000

/** The sessions of one user at one moment. */
export interface UserSessions {
  /** Not expired, oldest admission first. Sessions that the logout epoch has made stale are among them. */
  readonly sessions: readonly StoredSession[]
  /** Changes with every change of the set, and repeats for an empty set at most. An unknown user has one too. */
  readonly version: string
}

/** What one login does to a user's sessions. */
export interface SessionChange {
  /** The session to register. */
  readonly admit: NewSession
  /** Tokens to end. Unknown ones are ignored. */
  readonly end: readonly Token[]
  /** Token of the session that this login continues. Nothing changes unless it is live: registered, and no older than `admit.generation`. */
  readonly continues?: Token | undefined
}

/** What became of a commit. */
export type CommitResult =
  | {
      /** Whether the change was made. */
      readonly committed: false
      /** True when the session that the login continues is over, at whatever version: trying again is of no use. */
      readonly isOver?: boolean
    }
  | {
      /** Whether the change was made. */
      readonly committed: true
      /** The session that was registered. */
      readonly admitted: StoredSession
      /** Those that this commit ended, oldest first. */
      readonly ended: readonly StoredSession[]
    }

/**
 * Knows who is logged in where.
 *
 * Every method is atomic for one user, also over processes, and idempotent unless it says otherwise.
 * User ids that print alike (2 and '2') are one user; a record keeps the type it was registered with.
 * Every method rejects with `store_unavailable` when the store cannot be reached; what was changed is then unknown.
 */
export interface SessionRegistry {
  /** Reads the sessions of a user and the version to commit against. Unknown user: no sessions. */
  read(userId: UserId): Promise<UserSessions>
  /** Reads the logout generation that a session was admitted in: what every request asks. Unknown, ended or expired: undefined. */
  generationOf(userId: UserId, token: Token): Promise<number | undefined>
  /**
   * Registers one session and ends others if the user's sessions are still at `version`; else changes nothing.
   * Looks at `change.continues` first, and in the same step.
   *
   * The new session gets a larger sequence than any of the user's present ones. A token that is registered already is replaced.
   */
  commit(userId: UserId, version: string, change: SessionChange): Promise<CommitResult>
  /**
   * Registers a session that existed before, whatever the version.
   *
   * Registered already: returns that one unchanged. Among the user's 32 last ended ones of the last ten minutes, or
   * all or all other sessions of the user were ended in the last 400 days: undefined, and nothing changes.
   */
  adopt(userId: UserId, session: NewSession): Promise<StoredSession | undefined>
  /**
   * Notes that a session was used and moves its expiry to now + `ttlMs`. Resolves false when it is not registered.
   *
   * What is stored may stay if its time of use and its expiry are less than `freshMs` behind; without it, nothing may.
   */
  touch(userId: UserId, token: Token, ttlMs: number, freshMs?: number): Promise<boolean>
  /** Carries a session over to a later logout generation, and moves the version. Resolves false when it is not registered. */
  restamp(userId: UserId, token: Token, generation: number): Promise<boolean>
  /**
   * Ends the named sessions of a user, or all. Returns those that this very call ended, oldest first.
   *
   * Ending all leaves a mark for 400 days, also when there was none to end: `adopt` then takes no session of the user.
   */
  end(userId: UserId, tokens?: readonly Token[]): Promise<readonly StoredSession[]>
  /**
   * Ends all sessions of a user except one, and leaves the same mark as ending all. Returns those that it ended, oldest first.
   *
   * The one to keep is not registered, or has expired: undefined, and nothing changes.
   */
  endOthers(userId: UserId, keep: Token): Promise<readonly StoredSession[] | undefined>
}

/** The session store of the host, as far as the limit needs it. */
export interface HostSessions {
  /** Tells whether the store still holds a session. */
  exists(sessionId: string): Promise<boolean>
  /** Tells whether the store holds all of these sessions, where one question can tell; false says nothing. */
  holdsAll?(sessionIds: readonly string[]): Promise<boolean>
  /** Deletes a session. Unknown ids are no error. */
  destroy(sessionId: string): Promise<void>
}
