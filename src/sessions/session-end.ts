import type { UserId } from '../ground/user-id.ts'
import type { Token } from './token.ts'

/**
 * Why the session of a request is over. `missing`: the session store no longer has it, which is usual after another
 * login.
 */
export type SignedOutReason = 'ended' | 'logout_all' | 'missing'

/**
 * Why a session is over, as far as it is known. Minor releases may add kinds.
 *
 * - `displaced`: another login needed its place.
 * - `idle`: another login needed a place, and this session had not been used for long.
 * - `chosen`: its user chose it at another login.
 * - `user`: its user ended it.
 * - `admin`: an administrator ended it, with the admin screen, the REST routes or the command line.
 * - `app`: the application ended it.
 * - `logout_all`: a site-wide logout.
 */
export type EndedKind = 'displaced' | 'idle' | 'chosen' | 'user' | 'admin' | 'app' | 'logout_all'

/** Why a session is over, for the person who was signed out. */
export interface EndedCause {
  /** What ended the session. */
  readonly kind: EndedKind
  /** Milliseconds since the Unix epoch; for a login and a site-wide logout by the clock of the store. */
  readonly at: number
  /** The device that ended it, such as "Chrome on Windows". Null if unknown, or if no device did. */
  readonly device: string | null
  /** What the application says about it: plain text, which must be escaped for display. */
  readonly note?: string
}

/** The end of a session, for the application. */
export interface SessionEnd {
  /**
   * What ended the session. `replaced`: its user signed in again with the same browser. `signed_out`: that browser left
   * it, usually by a logout. `lost`: the session store no longer had it.
   */
  readonly kind: EndedKind | 'replaced' | 'signed_out' | 'lost'
  /** As in {@link EndedCause}. */
  readonly at: number
  /** The origin of the end, if known. */
  readonly by?: {
    /** Id of the user who ended it, if the caller named one. */
    readonly actor?: UserId
    /** Token of the new session, if a login ended it. */
    readonly token?: Token
    /** As in {@link EndedCause}. */
    readonly device: string | null
    /** Address of the client, if a login ended it. */
    readonly ip: string | null
  }
  /** As in {@link EndedCause}. */
  readonly note?: string
}

/** The origin of an end, and a note about it. */
export interface EndedByWhom {
  /** Its user, an administrator, or the application. @default 'app' */
  readonly by?: 'user' | 'admin' | 'app' | undefined
  /** Id of the user who ends it, for hooks. The signed-out user does not see it. */
  readonly actor?: UserId | undefined
  /** The device that ends it, such as "Chrome on Windows": at most 64 characters. @default unknown */
  readonly device?: string | undefined
  /**
   * What to tell the signed-out user: plain text of at most 200 characters.
   *
   * Anyone who holds the old cookie can read it, so it should name no person and no internal reason.
   */
  readonly note?: string | undefined
}
