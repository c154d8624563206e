import type { IncomingMessage, ServerResponse } from 'node:http'
import type { UserId } from '../ground/user-id.ts'
import type { EndedCause, SignedOutReason } from '../sessions/session-end.ts'
import type { Token } from '../sessions/session-record.ts'

/** The cookie of an express-session session, as an object or as stored. */
export interface HostCookie {
  expires?: Date | string | null
  originalMaxAge?: number | null
  path?: string
  domain?: string
  [attribute: string]: unknown
}

/** Where a cookie applies. */
export interface CookieScope {
  /** @default '/' */
  readonly path?: string | undefined
  readonly domain?: string | undefined
  /** Whether browsers send it only over HTTPS. */
  readonly secure?: unknown
  /** Whether browsers send it to other sites' pages that embed this one: 'none' if they do. */
  readonly sameSite?: unknown
  /** Whether browsers keep one for each site that embeds this one. */
  readonly partitioned?: unknown
}

/**
 * The data of a session, in any framework.
 *
 * How long a session lives is read from `cookie.expires` and `cookie.originalMaxAge`, or from `_expire` and `_maxAge` as
 * in Koa. Without them, it is read from the `ttl` or `getTTL` of the session store; otherwise, it is 14 days.
 */
export interface HostSessionData {
  cookie?: HostCookie
  /** When the session expires, in milliseconds since 1970. */
  _expire?: unknown
  /** How long the session lives after each use, in milliseconds. */
  _maxAge?: unknown
  [key: string]: unknown
}

/** An express-session session on a request. */
export interface HostSession extends HostSessionData {
  regenerate(callback: (error?: unknown) => void): unknown
  save(callback: (error?: unknown) => void): unknown
  touch?(): unknown
  destroy?(callback?: (error?: unknown) => void): unknown
}

/** An express-session store, reduced to the members that sessmgr uses or replaces. */
export interface HostStore {
  get(sessionId: string, callback: (error: unknown, data?: HostSessionData | null) => void): unknown
  set(sessionId: string, data: HostSessionData, callback?: (error?: unknown) => void): unknown
  destroy(sessionId: string, callback?: (error?: unknown) => void): unknown
  touch?(sessionId: string, data: HostSessionData, callback?: (error?: unknown) => void): unknown
  createSession(request: HostRequest, data: HostSessionData): HostSession
  regenerate(request: HostRequest, callback: (error?: unknown) => void): unknown
  generate(request: HostRequest): void
}

/** The state of a request's session, as in `req.sessmgr`. */
export interface RequestState {
  /** The login session of this request, if it has one. */
  session?: {
    /** Id of the user. */
    readonly userId: UserId
    /** The hashed session id. */
    readonly token: Token
    /** Id of the user who acts as this user, as in a support session. Undefined if the user acts in person. */
    readonly actor?: UserId
    /** Key of the device to which `boundSessions()` has bound the session. Undefined if it is not bound. */
    readonly bound?: string
  }
  /** Set if the request came with a session that is over. The request then continues anonymously. */
  ended?: {
    /** Why it ended. */
    readonly reason: SignedOutReason
    /** What ended the session and when. Undefined if this is unknown, for example because the session expired. */
    readonly cause?: EndedCause
  }
}

/** How the session of a request ended. */
export type EndedState = NonNullable<RequestState['ended']>

/** A request with an express-session session, and perhaps Passport. */
export interface HostRequest extends IncomingMessage {
  session?: HostSession | undefined
  sessionID?: string | undefined
  sessionStore?: HostStore
  sessmgr?: RequestState
  ip?: string
  _userProperty?: string
  accepts?(types: string[]): string | false
  flash?: ((type: string, message: string) => unknown) | undefined
  [property: string]: unknown
}

/** A response. `redirect` exists only in Express. */
export interface HostResponse extends ServerResponse {
  redirect?(url: string): void
}

type NodeRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'readableEnded' | 'destroyed'>

/** What sessmgr's routes and pages read of a request. A request of Express or Node fits it. */
export interface RoutedRequest extends NodeRequest {
  readonly baseUrl?: string | undefined
  readonly originalUrl?: string | undefined
  readonly ip?: string | undefined
  readonly socket: { readonly remoteAddress?: string | undefined; readonly encrypted?: boolean | undefined }
  readonly body?: unknown
  on(event: string, listener: (chunk: unknown) => void): unknown
  accepts?(types: string[]): string | false
}

/** Calls the next middleware. */
export type Next = (error?: unknown) => void

/** A middleware that serves routes or a page. */
export type Handler = (request: RoutedRequest, response: HostResponse, next: Next) => void

declare global {
  namespace Express {
    interface Request {
      /** The state of this request's session. */
      sessmgr?: RequestState
    }
  }
}
