import type { UserId } from '../ground/user-id.ts'
import {
  type Epoch,
  isCurrent,
  type LoginTerms,
  type NewSession,
  type SessionHost,
  type SessionStamp,
  type StoredSession,
  type Token,
} from './session-record.ts'
import type { StateChange } from './user-state.ts'

/**
 * Maximum number of sessions per user. Limited because each login reads all of them, which must not delay other users.
 */
export const MOST_SESSIONS = 1000

/** The sessions of one user at one moment. The registry also keeps in this object what a commit compares. */
export interface UserSessions {
  /** Sessions that have not expired, oldest first, including those made stale by a site-wide logout. */
  readonly sessions: readonly StoredSession[]
  /** Sessions that `max_age` has ended, until someone ends them by their tokens. */
  readonly aged: readonly StoredSession[]
  /** Changes whenever all of the user's sessions, or all except one, are ended together. */
  readonly mark: number
  /** Whether the user has just been erased, so that nothing about them can be stored yet. */
  readonly isErased: boolean
  /** Time of the read in milliseconds, never ahead of the store's clock. */
  readonly now: number
}

/** What changes whenever a user's sessions are ended together, by a call for the user or for everybody. */
export interface UserEnds {
  readonly mark: number
  readonly generation: number
  /** The terms of the session that was given up. */
  readonly terms: LoginTerms
}

/** The changes that one login makes to a user's sessions. */
export interface SessionChange {
  /** The session to register. */
  readonly admit: NewSession
  /** Tokens of the sessions to end. Unknown tokens are ignored. */
  readonly end: readonly Token[]
}

/** Result of a commit. */
export type CommitResult =
  | {
      /** Whether the change was made. */
      readonly committed: false
    }
  | {
      /** Whether the change was made. */
      readonly committed: true
      /** The session that was registered. */
      readonly admitted: StoredSession
      /** Sessions that this commit ended, oldest first. */
      readonly ended: readonly StoredSession[]
      /** Set if the user has not logged in from the session's device before, as far as is remembered. */
      readonly newDevice?:
        | {
            /** Whether no other device of the user is remembered. */
            readonly firstEver: boolean
          }
        | undefined
    }

/** A session's generation, and its last recorded use. */
export interface SessionUse {
  /** Generation of the session. */
  readonly generation: number
  /**
   * Time of the last use, or an earlier time, by `performance.now()` of this process. In the future if the clock was
   * set back.
   */
  readonly usedAt: number
  /** Milliseconds from that use to the expiry. */
  readonly ttlMs: number
  /** As in {@link StoredSession}. */
  readonly takenUp: boolean
  /** Whether `max_age` has ended it. */
  readonly isAged?: boolean | undefined
  /** As in {@link StoredSession}. */
  readonly host?: SessionHost | undefined
  /** As in `SessionRecord`, but undefined if the session is not bound. */
  readonly bound?: string | undefined
}

/** What was erased, and when. */
export interface ErasedSessions {
  /** The sessions that this call ended, oldest first. */
  readonly ended: readonly StoredSession[]
  /** Time of the call in milliseconds, by the store's clock. No ended session was registered later. */
  readonly at: number
}

/** The result of presenting a refresh token. */
export interface Rotation {
  /**
   * `rotated`: the token was the current one, or a later one that the store has lost. It is now the previous token.
   * `repeated`: the token was used before, within the grace period. `reused`: the token was used longer ago.
   */
  readonly outcome: 'rotated' | 'repeated' | 'reused'
  /** Number of the current refresh token: 0 after the login. */
  readonly number: number
  /** Time of the last rotation, or of the login, in milliseconds by the store's clock. */
  readonly at: number
  /** As in {@link StoredSession}. */
  readonly endsAt?: number | undefined
}

/** The times that apply to a rotation. */
export interface RotationChange {
  /**
   * Milliseconds for which a token counts as `repeated` after its first use; at least half that if others were used
   * since.
   */
  readonly graceMs: number
  /** Milliseconds until the session expires. */
  readonly ttlMs: number
  /** As in `SessionRegistry.touch`. */
  readonly maxAgeMs?: number | undefined
}

/** Result of an adoption. */
export interface AdoptedSession extends StoredSession {
  /** Whether this call registered the session. */
  readonly isNew?: boolean
}

/**
 * Stores the login sessions of all users.
 *
 * Every method is atomic per user, across processes, and idempotent unless stated otherwise. User ids with the same
 * string form (2 and '2') are the same user; a record keeps the type with which it was registered. Every method rejects
 * with `store_unavailable` if the store cannot be reached; the data may or may not have changed.
 */
export interface SessionRegistry {
  /** Reads a user's sessions. An unknown user has none. */
  read(userId: UserId): Promise<UserSessions>
  /**
   * Reads the generation of a session, and its last use, so that a process need not record a use that another has just
   * recorded. Called for every request. Resolves to undefined if the session is unknown or expired, or has ended other
   * than by `max_age`.
   */
  useOf(userId: UserId, token: Token): Promise<SessionUse | undefined>
  /**
   * Registers a session and ends others. If anything stored about the user has changed since the read, even only the
   * last use of a session, changes nothing.
   *
   * The new session has a larger sequence than all current ones of the user. If its token is already registered, that
   * session is replaced.
   *
   * @param read The object that `read` returned for this user.
   */
  commit(userId: UserId, read: UserSessions, change: SessionChange): Promise<CommitResult>
  /**
   * Registers an existing session.
   *
   * Returns the record unchanged if the session is already registered. Resolves to undefined, and changes nothing, if
   * it is among the last 32 sessions of the user that ended in the last ten minutes. The same applies if all sessions
   * of the user, or all except one, were ended in the last 400 days.
   */
  adopt(userId: UserId, session: NewSession): Promise<AdoptedSession | undefined>
  /**
   * Records that a session was used, and sets its expiry to now + `ttlMs`. Resolves to false if it is not registered.
   *
   * If the stored times are out of date by less than `freshMs`, the call may change nothing.
   *
   * @param ttlMs If undefined, the expiry stays. Only `tokenSessions()` of `sessmgr/jwt` needs that.
   * @param maxAgeMs How many milliseconds after its login the session ends, or 0 for never. If undefined, what was set
   * before stays.
   */
  touch(userId: UserId, token: Token, ttlMs: number | undefined, freshMs?: number, maxAgeMs?: number): Promise<boolean>
  /**
   * Records that a request has come with a session. Resolves to false if the session is not registered.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  takeUp(userId: UserId, token: Token): Promise<boolean>
  /**
   * Replaces the refresh token of a session.
   *
   * If `presented` is the current number or higher, the next number is `presented` + 1, and the session counts as used:
   * its expiry becomes now + `ttlMs`. Otherwise, nothing changes. Resolves to undefined if the session is not
   * registered. A new registration of the session resets the number to 0.
   *
   * @param presented Number of the token that the client has sent: an integer from 0 to 2^53 - 2.
   */
  rotate(userId: UserId, token: Token, presented: number, change: RotationChange): Promise<Rotation | undefined>
  /**
   * Ends the given sessions of a user, or all that are live, and returns the sessions that this call ended, oldest
   * first.
   *
   * Ending all sessions leaves a mark for 400 days, even if there was no session: `adopt` then refuses every
   * unregistered session of the user. It also removes the user's waiting logins, and restarts the count of choices.
   */
  end(userId: UserId, tokens?: readonly Token[]): Promise<readonly StoredSession[]>
  /** Ends the session of a failed login. A commit of that login that is still on its way then fails. */
  undo(userId: UserId, token: Token): Promise<void>
  /**
   * Ends all of a user's sessions except one, and returns the sessions that this call ended, oldest first. Leaves the
   * same mark as ending all sessions.
   *
   * Resolves to undefined, and changes nothing, if the session to keep is not registered or has expired.
   *
   * @param keepsChoices Whether the user's choices keep counting, because the password has not changed.
   */
  endOthers(userId: UserId, keep: Token, keepsChoices?: boolean): Promise<readonly StoredSession[] | undefined>
  /**
   * Ends all of a user's sessions, and removes everything stored under the user's id, including the mark that `end`
   * leaves. For `quietMs`, every command that would store something about the user rejects with `store_unavailable`,
   * because it may have begun before.
   */
  erase(userId: UserId): Promise<ErasedSessions>
  /** For how long nothing about an erased user is stored: twice the deadline of one call, in milliseconds. */
  readonly quietMs: number
  /** Changes what is stored about a user, but neither registers nor ends a session. Not idempotent. */
  changeState<Result>(userId: UserId, change: StateChange<Result>): Promise<Result>
}

/** One site-wide logout, and the epoch that it begins. */
export interface SiteLogout extends Epoch {
  /** Time of the logout, in Unix seconds by the store's clock. */
  readonly epoch: number
}

/** Returns the site-wide logout that follows an epoch at a time, or undefined if the session to keep is not current. */
export function nextLogout(epoch: Epoch, now: number, keep?: SessionStamp): SiteLogout | undefined {
  if (keep && !isCurrent(epoch, keep)) return undefined
  return { generation: Math.max(epoch.generation + 1, now), keeps: keep?.token, epoch: Math.floor(now / 1000) }
}

/** Stores the epoch, in one row. Rejects with `store_unavailable` if the store cannot be reached. */
export interface LogoutEpoch {
  /** Returns the current epoch. Called for every request. */
  current(): Promise<Epoch>
  /**
   * Begins the next epoch, in one write and in constant time. Not idempotent.
   *
   * @param keep The only session that it keeps. If that session is not current, nothing changes.
   * @returns Undefined if nothing has changed.
   */
  advance(keep?: SessionStamp): Promise<SiteLogout | undefined>
}

/** The application's session store, reduced to what the limit needs. */
export interface HostSessions {
  /** Checks whether the store still has a session. */
  exists(sessionId: string): Promise<boolean>
  /** Checks in one request whether the store has all of these sessions. False means that some may be missing. */
  holdsAll?(sessionIds: readonly string[]): Promise<boolean>
  /** Deletes a session. An unknown id is not an error. */
  destroy(sessionId: string): Promise<void>
}
