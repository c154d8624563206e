import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { UserId } from '../ground/user-id.ts'
import type { Token } from '../sessions/token.ts'

/** The cookie part of an express-session session, as an object or as the store keeps it. */
export interface HostCookie {
  expires?: Date | string | null
  originalMaxAge?: number | null
  path?: string
  domain?: string
  [attribute: string]: unknown
}

/** Session data as express-session keeps it. */
export interface HostSessionData {
  cookie?: HostCookie
  [key: string]: unknown
}

/** An express-session session on a request. */
export interface HostSession extends HostSessionData {
  regenerate(callback: (error?: unknown) => void): unknown
  save(callback: (error?: unknown) => void): unknown
  destroy?(callback?: (error?: unknown) => void): unknown
}

/** The store of express-session, as far as it is guarded. */
export interface HostStore {
  get(sessionId: string, callback: (error: unknown, data?: HostSessionData | null) => void): unknown
  set(sessionId: string, data: HostSessionData, callback?: (error?: unknown) => void): unknown
  destroy(sessionId: string, callback?: (error?: unknown) => void): unknown
  touch?(sessionId: string, data: HostSessionData, callback?: (error?: unknown) => void): unknown
  createSession(request: HostRequest, data: HostSessionData): HostSession
  regenerate(request: HostRequest, callback: (error?: unknown) => void): unknown
  generate(request: HostRequest): void
  on?(event: string, listener: () => void): unknown
}

/** Why the session that a request came with is over. `missing`: the store no longer has it, or never had. */
export type SignedOutReason = 'ended' | 'logout_all' | 'missing'

/** What this service tells the application about a request, as `req.sessmgr`. */
export interface RequestState {
  /** The login session of this request, when it has one. */
  session?: {
    /** Whose session it is. */
    readonly userId: UserId
    /** The hashed session id. */
    readonly token: Token
  }
  /** Set when the request came with a session that is over. The request goes on as anonymous. */
  ended?: {
    /** Why it ended. */
    readonly reason: SignedOutReason
  }
}

/** A request as the guard sees it: one of Express itself, or the visit that an adapter has made of one. */
export interface GuardedRequest {
  session?: HostSession | undefined
  sessionID?: string | undefined
  sessmgr?: RequestState
  readonly ip?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly socket: Socket
  /** What Passport puts on the requests of Express. */
  readonly _passport?: unknown
  readonly _sessionManager?: unknown
  readonly logIn?: unknown
}

/** A request as express-session, and perhaps Passport, have left it. */
export interface HostRequest extends IncomingMessage {
  session?: HostSession | undefined
  sessionID?: string | undefined
  sessionStore?: HostStore
  sessmgr?: RequestState
  ip?: string
  _sessionManager?: unknown
  _userProperty?: string
  accepts?(types: string[]): string | false
  flash?(type: string, message: string): unknown
  [property: string]: unknown
}

/** A response; `redirect` is there under Express. */
export interface HostResponse extends ServerResponse {
  redirect?(url: string): void
}

/** A login as the library of a host asks for it. */
export interface HostLogin {
  readonly request: GuardedRequest
  readonly user: unknown
  /** What the library was told with the login: one with `session: false` has nothing to limit. */
  readonly options?: { readonly session?: boolean | undefined } | undefined
  /** Runs the host's own login, which leaves a fresh session on the request. */
  logIn(): Promise<void>
  /** Saves that session, where the host's login does not: the next login must not take it for lost. */
  save?(): Promise<void> | undefined
  /** Takes back what the library has noted of the user, when the login fails. */
  forget?(): void
}

/**
 * Carries a login through the limit.
 *
 * @throws SessmgrError `login_limit_reached` when the limit refuses it, `session_ended` when the request was loaded with a
 * session of this user that is over by now; the session is then as it was.
 */
export type LimitLogin = (login: HostLogin) => Promise<void>

/** Hands over to the next middleware. */
export type Next = (error?: unknown) => void

/** Middleware, as Express calls it. */
export type Handler = (request: HostRequest, response: HostResponse, next: Next) => void

declare global {
  namespace Express {
    interface Request {
      /** What sessmgr knows of this request. */
      sessmgr?: RequestState
    }
  }
}
