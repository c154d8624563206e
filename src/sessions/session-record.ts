import { nodeCrypto } from '../ground/node-crypto.ts'
import type { UserId } from '../ground/user-id.ts'

/** SHA-256 of a raw session id, 64 hex digits. Hooks, logs and REST routes use tokens, never raw session ids. */
export type Token = string

/** Matches a token. */
export const TOKEN_PATTERN = /^[0-9a-f]{64}$/

/**
 * Returns the token of a raw session id.
 *
 * @example
 * ```ts
 * const isCurrent = session.token === tokenOf(req.sessionID)
 * ```
 */
export function tokenOf(sessionId: string): Token {
  return nodeCrypto().hash('sha256', sessionId)
}

/** Matches the ids of `sessmgr/jwt` sessions: 128 random bits, with a prefix that no session store uses. */
export const TOKEN_SESSION = /^jwt_[\w-]{22}$/

/** Identifies one session of one user. */
export interface Login {
  /** Id of the user. */
  readonly userId: UserId
  /** Token of the session. */
  readonly token: Token
}

/**
 * Describes a login session, without secrets. Times are in milliseconds since the Unix epoch, by the clock of the
 * store.
 */
export interface SessionRecord {
  /** SHA-256 of the raw session id, as 64 hex digits. Identifies the session in `sessions.end`, hooks and logs. */
  readonly token: Token
  /** Id of the user, in the type that your application uses: a string or an integer. */
  readonly userId: UserId
  /** Order of admission among the sessions of this user. Later ones have larger numbers. */
  readonly sequence: number
  /**
   * Time of the login, in milliseconds. `max_age` counts from it. Earlier than `createdAt` if the id of the session has
   * changed since.
   */
  readonly loggedInAt: number
  /**
   * Time of registration, in milliseconds. This is usually the login.
   *
   * Some sessions are registered later, on their next use: sessions from before sessmgr, and sessions that a memory
   * store lost in a restart. If the id of a session changes without a login, the session is registered again. In all
   * these cases, `ip`, `userAgent` and `device` are null.
   */
  readonly createdAt: number
  /** Time of the last recorded use, in milliseconds. The last request may have been up to `touchEvery` later. */
  readonly lastSeenAt: number
  /** When the session expires if it is not used again, in milliseconds; at the latest when `max_age` is over. */
  readonly expiresAt: number
  /** The label that the `login` option has given the session, or null. */
  readonly label: string | null
  /** Whether the session counts toward the limit; see the `login` option. */
  readonly counts: boolean
  /**
   * Id of the user who acts as this user, as in a support session: the one who was signed in when a session that does
   * not count began. Null if the user acts in person.
   */
  readonly actor: UserId | null
  /**
   * Address of the client at login, determined by your framework's proxy settings. At most 64 characters; null if
   * unknown.
   */
  readonly ip: string | null
  /** `User-Agent` header of the client at login. At most 512 characters; null if unknown. */
  readonly userAgent: string | null
  /**
   * Identifies the browser that logged in, but only among this user's browsers: a hash of its device cookie, 16
   * characters. Null if unknown, or without the `device` option.
   */
  readonly device: string | null
  /**
   * Public key of the device to which `boundSessions()` has bound the session, so that copies of its cookie are useless
   * elsewhere: a compressed P-256 point in base64url, 44 characters. Null if the session is not bound.
   */
  readonly bound: string | null
  /**
   * Identifies the last site-wide logout before the login: roughly its time, in milliseconds. 0 if there was none, and
   * for sessions from before sessmgr.
   */
  readonly generation: number
}

/** What the last site-wide logout has left current. */
export interface Epoch {
  /**
   * Generation of the logins since then: its time in milliseconds by the store's clock, or one more than the generation
   * before, whichever is higher. A counter would give the same generation twice if a failover lost a logout. 0 before the
   * first logout.
   */
  readonly generation: number
  /** Token of the only earlier session that it has kept. */
  readonly keeps: Token | undefined
}

/** The epoch before the first site-wide logout. */
export const FIRST_EPOCH: Epoch = { generation: 0, keeps: undefined }

/** What decides whether a session is current. */
export type SessionStamp = Pick<SessionRecord, 'token' | 'generation'>

/**
 * Checks that no site-wide logout has ended a session. A generation ahead of the epoch, as after a failover that has
 * lost a logout, counts as the epoch's.
 */
export function isCurrent(epoch: Epoch, { token, generation }: SessionStamp): boolean {
  return generation >= epoch.generation || token === epoch.keeps
}

/** What a login decides about its session. It stays if the id of the session changes. */
export interface LoginTerms extends Pick<SessionRecord, 'label' | 'counts'> {
  /** As in {@link SessionRecord}. Undefined for a new login. */
  readonly loggedInAt?: number | undefined
  /** As in {@link NewSession}. Undefined for a new login. */
  readonly maxAgeMs?: number | undefined
  /** As in {@link StoredSession}. */
  readonly host?: SessionHost | undefined
  /** As in {@link SessionRecord}. Undefined for a new login. */
  readonly bound?: string | null | undefined
}

/**
 * The user who acts as another, and what their session depends on: the session that began it or, if the browser gave
 * that one up, the mark of all their sessions at a time.
 */
export type SessionHost = readonly [userId: UserId, token: Token] | readonly [userId: UserId, mark: number, at: number]

/**
 * A record with the raw session id, which is needed to delete the session from the session store. Never passed to hooks
 * or logs.
 */
export interface StoredSession {
  /** The public part. */
  readonly record: SessionRecord
  /** The raw session id. */
  readonly sessionId: string
  /** Whether a request has come with the session since its login. Until then, perhaps nobody has its cookie. */
  readonly takenUp: boolean
  /**
   * When the user last proved their identity after the login, by the store's clock. If undefined, only the login was a
   * proof; if {@link UNPROVED}, not even that.
   */
  readonly provedAt?: number | undefined
  /** When the session would expire without `max_age`. Until then, it is kept so that its user can be told why it ended. */
  readonly lifeEnd: number
  /** When `max_age` ends the session. Undefined if it never does. */
  readonly endsAt?: number | undefined
  /** Set if another user acts as this one. If what it depends on has ended, so has the session. */
  readonly host?: SessionHost | undefined
}

/** Returns the terms of a session's login. */
export function termsOf({
  record: { loggedInAt, label, counts, bound },
  host,
  endsAt = loggedInAt,
}: StoredSession): LoginTerms {
  return { loggedInAt, maxAgeMs: endsAt - loggedInAt, label, counts, bound, host }
}

/** The `provedAt` of a session that was registered without a proof. */
export const UNPROVED = -1

/** A session to register. */
export interface NewSession extends Partial<Pick<LoginTerms, 'loggedInAt' | 'host' | 'bound'>> {
  /** As in {@link SessionRecord}. @default null */
  readonly label?: string | null | undefined
  /** As in {@link SessionRecord}. @default true */
  readonly counts?: boolean | undefined
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
  /** As in {@link StoredSession}. @default true */
  readonly takenUp?: boolean | undefined
  /** {@link UNPROVED} if the registration is not a proof of the user's identity. @default undefined */
  readonly provedAt?: typeof UNPROVED | undefined
  /** How many milliseconds after its login the session ends, whatever its use. 0 for never. @default 0 */
  readonly maxAgeMs?: number | undefined
}
