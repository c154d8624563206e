import type { IncomingMessage } from 'node:http'
import type { Admission, LoginCall } from '../../explicit.ts'
import { type Declared, must, requireMethods, whole } from '../../ground/option-checks.ts'
import type { RequestState } from '../../index.ts'
import type { LiveConnections } from '../../live.ts'

/** Options of tokenSessions(). Omitted or undefined options use their defaults. */
export interface TokenSessionOptions {
  /**
   * How many milliseconds a session lasts without a refresh, from 60,000 (a minute) to 34,560,000,000 (400 days).
   * @default 2592000000
   */
  readonly sessionMs?: number | undefined
  /**
   * How many milliseconds a refresh token stays valid after its first use, from 0 to 120,000. This allows for parallel
   * requests and lost responses. Once newer tokens have been used, it may expire after half that time. @default 30000
   */
  readonly graceMs?: number | undefined
  /** What ends when a token is reused after `graceMs`: its session, or all sessions of its user. @default 'session' */
  readonly onReuse?: 'session' | 'user' | undefined
  /**
   * The result of `liveConnections()` from `sessmgr/live`. A live session is then checked in memory until its end is
   * reported. `live.size` also counts these sessions. @default each check asks the store
   */
  readonly live?: Pick<LiveConnections, 'track'> | undefined
}

/** Claims to sign. Add nothing random: a repeated refresh gets the same claims, and must get the same tokens. */
export interface TokenClaims {
  /** The user id, as a string. */
  readonly sub: string
  /** Id of the session. Sign it in both tokens. */
  readonly sid: string
  /** Number of the rotation. Sign it only in the refresh token. */
  readonly rot: number
  /** Time of the rotation, in seconds since the Unix epoch. */
  readonly iat: number
  /** When the session and its refresh token expire without a refresh, in seconds since the Unix epoch. */
  readonly exp: number
}

/** Claims of a token whose signature, type and expiry you have verified. */
export interface VerifiedClaims {
  /** The user id. If your application's ids are numbers, pass the number. */
  readonly sub?: unknown
  /** Id of the session. */
  readonly sid?: unknown
  /** Number of the rotation, in a refresh token. */
  readonly rot?: unknown
}

/** Result of a login. If the login is admitted, includes what `sign` returned. */
export type TokenAdmission<Tokens> =
  | (Admission & {
      /** Whether the login is admitted. */
      readonly admitted: true
      /** What `sign` returned. */
      readonly tokens: Tokens
    })
  | (Admission & {
      /** Whether the login is admitted. */
      readonly admitted: false
    })

/** Result of a refresh. */
export type Refreshed<Tokens> =
  | {
      /** Whether the session is live. */
      readonly live: true
      /** What `sign` returned. */
      readonly tokens: Tokens
      /** Whether the same refresh token was used before, within the grace period. */
      readonly repeated: boolean
    }
  | {
      /** Whether the session is live. */
      readonly live: false
      /** How the session ended. */
      readonly ended: NonNullable<RequestState['ended']>
    }

/** Sessions of access and refresh tokens. If the store fails, calls reject with `store_unavailable`; repeat them. */
export interface TokenSessions {
  /**
   * Performs a login, and then calls `sign` to create its tokens. If `sign` rejects, the login is undone.
   *
   * @throws SessmgrError Like `login` of `sessmgr/explicit`.
   */
  login<Tokens>(
    login: LoginCall,
    sign: (claims: TokenClaims) => Tokens | Promise<Tokens>,
  ): Promise<TokenAdmission<Tokens>>
  /** Rotates a refresh token and, if its session is live, calls `sign` to create the next tokens. */
  refresh<Tokens>(
    claims: VerifiedClaims,
    sign: (claims: TokenClaims) => Tokens | Promise<Tokens>,
  ): Promise<Refreshed<Tokens>>
  /**
   * Checks whether the session of an access token is live. For claims without `sub` and `sid`, the reason in `ended` is
   * `missing`.
   *
   * @param request Node's request, which identifies the caller to the REST routes, devices page and admin screen.
   */
  check(claims: VerifiedClaims, request?: IncomingMessage): Promise<RequestState>
  /** Ends the session of a token. Does nothing if the session has already ended. */
  logout(claims: VerifiedClaims): Promise<void>
}

export const OPTIONS = {
  sessionMs: [whole(60_000, 34_560_000_000), 2_592_000_000],
  graceMs: [whole(0, 120_000), 30_000],
  onReuse: [must("be 'session' or 'user'", (value) => value === 'session' || value === 'user'), 'session'],
  live: [(name, live) => requireMethods(name, live, ['track'])],
} as const satisfies Declared<TokenSessionOptions>
