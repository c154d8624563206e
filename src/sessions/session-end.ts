import type { UserId } from '../ground/user-id.ts'
import type { StoredSession, Token } from './session-record.ts'

/**
 * Why the session of a request has ended. `missing` means that the session store no longer has it, as is usual after
 * another login, or that `sessmgr/jwt` got no claims of a session, as from a request without a token.
 */
export type SignedOutReason = 'ended' | 'logout_all' | 'missing'

/**
 * Why a session ended, if known. Minor releases may add kinds.
 *
 * - `displaced`: another login needed its slot.
 * - `never_used`: a login in the same browser needed a slot, and no request had come with this session since its login.
 * - `idle`: another login needed a slot, and this session had not been used for a long time.
 * - `chosen`: the user chose it at another login.
 * - `user`: the user ended it.
 * - `admin`: an administrator ended it, with the admin screen, the REST routes or the command line.
 * - `app`: the application ended it.
 * - `reused`: an old refresh token was used again, so it may have been stolen.
 * - `stolen`: a device without the key to which the session is bound tried to prove that it is the user's.
 * - `max_age`: it reached the longest time that a session may last.
 * - `logout_all`: a site-wide logout ended it.
 */
export type EndedKind =
  | 'displaced'
  | 'never_used'
  | 'idle'
  | 'chosen'
  | 'user'
  | 'admin'
  | 'app'
  | 'reused'
  | 'stolen'
  | 'max_age'
  | 'logout_all'

/** Why a session ended, for the user who was signed out. */
export interface EndedCause {
  /** What ended the session. */
  readonly kind: EndedKind
  /**
   * When the session ended, in milliseconds since the Unix epoch, by the store's clock if a login or a site-wide logout
   * ended it.
   */
  readonly at: number
  /** The device that ended the session, such as "Chrome on Windows". Null if unknown, or if no device did. */
  readonly device: string | null
  /** The application's note for the user: plain text, which must be escaped for display. */
  readonly note?: string
  /** For `max_age`, how many milliseconds after its login the session ended. */
  readonly after?: number
}

/** How a session ended, for the application. */
export interface SessionEnd {
  /**
   * What ended the session. `replaced`: the user signed in again in the same browser. `signed_out`: a logout, or a
   * change of the session id. `lost`: the session store no longer had it.
   */
  readonly kind: EndedKind | 'replaced' | 'signed_out' | 'lost'
  /** As in {@link EndedCause}. */
  readonly at: number
  /** Details about what ended the session, if known. */
  readonly by?: {
    /** Id of the user who ended the session, if the caller named one. */
    readonly actor?: UserId
    /** Token of the new session, if a login ended the old one. */
    readonly token?: Token
    /** As in {@link EndedCause}. */
    readonly device: string | null
    /** Address of the client, if a login or a `stolen` cookie ended the session. */
    readonly ip: string | null
  }
  /** As in {@link EndedCause}. */
  readonly note?: string
  /** As in {@link EndedCause}. */
  readonly after?: number
}

/** On whose behalf a session ends, and a note for its user. */
export interface EndedByWhom {
  /** On whose behalf the session ends: its user, an administrator, or the application. @default 'app' */
  readonly by?: 'user' | 'admin' | 'app' | undefined
  /** Id of the user who ends the session, for hooks. The signed-out user does not see it. */
  readonly actor?: UserId | undefined
  /** The device that ends the session, such as "Chrome on Windows", in at most 64 characters. @default unknown */
  readonly device?: string | undefined
  /**
   * A message for the signed-out user: plain text of at most 200 characters.
   *
   * Anyone with the old cookie can read the note, so it should not name a person or an internal reason.
   */
  readonly note?: string | undefined
}

/** A global symbol, because each entry point may load its own copy of this module. */
const ENDED = Symbol.for('sessmgr:ended')

/**
 * Attaches to an error the sessions that the store has ended. The property is not enumerable, so logs do not show the
 * session ids.
 */
export function noteEnded<E extends object>(error: E, ended: readonly StoredSession[]): E {
  return Object.defineProperty(error, ENDED, { value: ended })
}

/** Returns the sessions that the store has ended although the call failed, or undefined if unknown. */
export function endedDespite(error: unknown): readonly StoredSession[] | undefined {
  return (Object(error) as { [ENDED]?: readonly StoredSession[] })[ENDED]
}
