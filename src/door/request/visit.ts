import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { invalidOption } from '../../ground/invalid-option.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Login, SessionRecord, Token } from '../../sessions/session-record.ts'
import type { UserEnds } from '../../sessions/session-registry.ts'
import type {
  CookieScope,
  HostRequest,
  HostResponse,
  HostSession,
  HostSessionData,
  Next,
  RequestState,
} from '../host-types.ts'
import type { RequestPort } from '../port.ts'

/** The login session that a request depends on. */
export interface OriginSession extends Login {
  /** Whether `sessionUser` could read its user. */
  readonly isReadable: boolean
}

interface Origin extends OriginSession {
  /** Settles once the request has given up the session; see `SessionLimiter.giveUp`. */
  givenUp?: Promise<UserEnds | undefined>
  /**
   * The session that the request depended on before its last login. If the earlier user logs in again, the request
   * depends on that session again.
   */
  readonly earlier: Origin | undefined
}

/**
 * A login whose session is not registered yet.
 *
 * While the framework regenerates the session, the visitor's old one stays in its store and keeps its slot. Another
 * login must not consider it lost, and if this login is refused, the visitor gets it back.
 */
export interface LoginUnderWay {
  readonly userId: UserId
  /** Id of the visitor's session. Most frameworks create a new id at login. */
  readonly sessionId: string
}

/** What a login has written of its session. */
interface WrittenLogin {
  holds(sessionId: string, data: HostSessionData): boolean
}

/** A login in any framework. */
export interface HostLogin {
  readonly visit: Visit
  readonly user: unknown
  /** Options of the login. With `session: false`, there is nothing to limit. */
  readonly options?: { readonly session?: boolean | undefined } | undefined
  /** Runs the framework's own login, which creates a new session on the request. */
  logIn(): Promise<void>
  /** Saves the new session, if the framework's login does not. Unsaved, it would count as lost at the next login. */
  save?(): Promise<void> | undefined
  /** Restores the user that was on the request before. Called if the login fails. */
  forget?(): void
}

/**
 * Passes a login through the limit.
 *
 * @throws SessmgrError `login_limit_reached` if the limit refuses it, or `login_choice_required` if the user has to
 * choose. `session_ended` if the request was loaded with a session of this user that has ended since. A refused login
 * leaves the session unchanged.
 */
export type LimitLogin = (login: HostLogin) => Promise<void>

/** Key of a request's visit. All copies of the package use the same key, because they may handle the same request. */
export const VISIT: unique symbol = Symbol.for('sessmgr.visit')

/** Key of the request as the framework passes it to the application, in a request that `answerOf` has created. */
export const OWN_REQUEST: unique symbol = Symbol.for('sessmgr.ownRequest')

/** A request, or an object that represents one, with its visit. */
export interface Visited {
  [VISIT]?: Visit
  readonly [OWN_REQUEST]?: object
}

/**
 * One request, in any framework, and what the guard knows about it. Each request has one visit, in one property.
 *
 * Objects that outlive a request must not refer to it or its response. A WeakMap keyed by requests, or a long-lived
 * object that refers to one, keeps requests alive past the scavenge that should free them. That costs more than the
 * whole check.
 */
export abstract class Visit implements RequestPort {
  abstract readonly raw: IncomingMessage
  /** The guard that the request has passed, which lets two limiters in one application detect each other. */
  passed: object | undefined = undefined
  /** What the guard found out about the session. Undefined if the session was loaded without the guard. */
  state: RequestState | undefined = undefined
  /** The session id that the request sent, if there is no session for it. */
  presentedId: string | undefined = undefined
  /** The limit for logins by Passport on Express and Koa. Undefined if the request did not pass the limiter. */
  limitLogin: LimitLogin | undefined = undefined
  /** The response, as passed to sessmgr. */
  givenResponse: HostResponse | undefined = undefined
  /** Continues an Express request. Passes errors that occur after the response to the application. */
  next: Next | undefined = undefined
  /** What Passport has assigned to `req.logIn`. */
  assignedLogIn: unknown = undefined
  /** What Passport has assigned to `req.login`. */
  assignedLogin: unknown = undefined
  login: LoginUnderWay | undefined = undefined
  /** The sessions that the user has chosen to end, and the label of the login. Set by the choice page that continues it. */
  chosen: { readonly ends: readonly Token[]; readonly label: string | undefined } | undefined = undefined
  /** The session that a login of this request has begun. */
  admitted: SessionRecord | undefined = undefined
  /** What the last login wrote, until its session is written again. */
  writtenLogin: WrittenLogin | undefined = undefined
  /** Id of a new session that has not been written yet, so no store has it. */
  begunId: string | undefined = undefined
  /** Reads the user of a session. Undefined before the session was checked. */
  userIn: ((data: HostSessionData) => UserId | undefined) | undefined = undefined
  /** Whether the response is held until a login is decided. */
  isHolding = false
  /** Id of the session whose login was refused when the application saved it. */
  refusedId: string | undefined = undefined
  /**
   * Whether the request had no session when it passed sessmgr, and no session store is named. If it gets a session
   * later, a login in that session is refused.
   */
  isTooEarly = false
  /** Whether the request is no use of its session, as when it is refused. */
  isNoUse = false
  #origin: Origin | undefined = undefined

  abstract readonly session: HostSessionData | undefined
  abstract readonly sessionID: string | undefined
  abstract readonly ip: string | undefined
  abstract sessmgr: RequestState | undefined
  abstract readonly passportLogin: ((user: unknown) => Promise<void>) | undefined
  abstract renew(): Promise<void>
  abstract restore(sessionId: string, data: HostSessionData | null): Promise<void>

  attend(_session: HostSessionData): void {}

  save(): Promise<void> {
    return new Promise((resolve, reject) => {
      ;(this.session as HostSession | undefined)?.save((error) => (error ? reject(error) : resolve()))
    })
  }

  get stored(): HostSessionData | undefined {
    return this.session
  }

  get own(): object {
    return this.raw
  }

  get cookieScope(): CookieScope {
    return this.session?.cookie ?? {}
  }

  get response(): HostResponse | undefined {
    return this.givenResponse ?? (this.raw as { res?: HostResponse }).res
  }

  /** Checks whether the request has sent the id of a session, in any of its cookies. */
  hasSent(sessionId: string): boolean {
    return this.raw.headers?.cookie?.includes(encodeURIComponent(sessionId)) === true
  }

  /** Attaches this visit to a request, or to an object that represents it. */
  standFor(holder: object): void {
    const earlier = (holder as Visited)[VISIT]
    // Passport has already assigned both when one of the application's strategies checks a session on the same request.
    this.assignedLogIn ??= earlier?.assignedLogIn
    this.assignedLogin ??= earlier?.assignedLogin
    ;(holder as Visited)[VISIT] = this
  }

  /**
   * Records the login session that a request was loaded with, or received by a login.
   *
   * Clients decide how long a request takes. A session that ends during the request must not continue under another id.
   * So this request can log the same user in again only if that session is live, or was live when it was given up.
   */
  noteOrigin(userId: UserId, token: Token, isReadable: boolean): void {
    this.#origin = { userId, token, isReadable, earlier: this.#origin }
  }

  /** Checks whether `sessionUser` could read the user of a session when the request received it. */
  wasReadable(token: Token): boolean {
    let origin = this.#origin
    while (origin && origin.token !== token) origin = origin.earlier
    return origin?.isReadable === true
  }

  /** Records that the request gives up a session. */
  giveUp(token: Token, ends: Promise<UserEnds | undefined>, userId?: UserId): void {
    let origin = this.#origin
    const isOther = (one: OriginSession) => userId !== undefined && String(one.userId) !== String(userId)
    while (origin && (origin.token !== token || isOther(origin))) origin = origin.earlier
    if (origin && !origin.givenUp) origin.givenUp = ends.catch(() => undefined)
  }

  /**
   * Returns the session that the request still depends on, optionally only if it belongs to a given user. Resolves to
   * undefined once the request has given up a live session.
   */
  async dependsOn(userId?: UserId): Promise<OriginSession | undefined> {
    const origin = this.#originOf(userId)
    return (await origin?.givenUp) ? undefined : origin
  }

  /** Returns what the user's ends were when the request gave up the user's live session, if it did. */
  givenUp(userId: UserId): Promise<UserEnds | undefined> | undefined {
    return this.#originOf(userId)?.givenUp
  }

  #originOf(userId: UserId | undefined): Origin | undefined {
    let origin = this.#origin
    while (origin && userId !== undefined && String(origin.userId) !== String(userId)) origin = origin.earlier
    return origin
  }
}

/** A request whose session the application checks itself. The session object is empty. */
export abstract class CheckedVisit extends Visit {
  override readonly passed = this
  readonly passportLogin = undefined
  session: HostSessionData | undefined = undefined
  sessionID = ''
  sessmgr: RequestState = {}

  /** Records whose session the request has, or how its session ended. */
  identify(sessionId: string, state: RequestState): this {
    this.sessionID = sessionId
    this.sessmgr = state
    this.session = state.session && {}
    if (state.session) this.noteOrigin(state.session.userId, state.session.token, true)
    return this
  }

  async renew(): Promise<void> {}

  async restore(): Promise<void> {}
}

/** A request as your framework passes it: from Node, Express or Fastify, or a Koa context. */
export type RequestLike =
  | IncomingMessage
  | Http2ServerRequest
  | {
      /** Node's request, in Fastify. */
      readonly raw: IncomingMessage | Http2ServerRequest
    }
  | {
      /** Node's request, in Koa. */
      readonly req: IncomingMessage | Http2ServerRequest
    }

/** A response as your framework passes it: from Node or Express, a Fastify reply, or a Koa context. */
export type ResponseLike =
  | ServerResponse
  | {
      /** Node's response, in Fastify. */
      readonly raw: ServerResponse
    }
  | {
      /** Node's response, in Koa. */
      readonly res: ServerResponse
    }

/** Returns the visit of a request, or undefined if no guard has seen the request. */
export function visitOf(request: object | undefined): Visit | undefined {
  if (request === undefined) return undefined
  const { [VISIT]: visit, raw, req } = request as Visited & { raw?: Visited; req?: Visited }
  return visit ?? raw?.[VISIT] ?? req?.[VISIT]
}

/**
 * Returns the state of a request's session for the application. If the application has removed the user since the
 * session was loaded, as Passport does for a deleted user, no user is signed in.
 */
export function shownStateOf(visit: Visit | undefined): RequestState | undefined {
  const { sessmgr: state, session, userIn } = visit ?? {}
  const isGone = state?.session && session && userIn && visit?.wasReadable(state.session.token) && !userIn(session)
  return isGone ? {} : state
}

/** Returns a request as the framework passes it to the application. */
export function ownRequestOf<T extends object | undefined>(request: T): object | T {
  return visitOf(request)?.own ?? (request as Visited | undefined)?.[OWN_REQUEST] ?? request
}

/** Returns the `Set-Cookie` headers that a response has so far. */
export function cookiesOf(response: Pick<ServerResponse, 'getHeader'>): string[] {
  return [response.getHeader('Set-Cookie') ?? []].flat().map(String)
}

/** Adds a `Set-Cookie` header to a response. */
export function appendCookie(response: ServerResponse, cookie: string): void {
  response.setHeader('Set-Cookie', [...cookiesOf(response), cookie])
}

/** Returns where the session cookie of a request applies. */
export function cookieScopeOf(request: object): CookieScope {
  return visitOf(request)?.cookieScope ?? (request as HostRequest).session?.cookie ?? {}
}

/** Returns Node's request from the request of any framework. */
export function nodeRequestOf(request: object): IncomingMessage {
  const own = ownRequestOf(request) as IncomingMessage & { raw?: IncomingMessage; req?: IncomingMessage }
  const found = [visitOf(request)?.raw, own, own.raw, own.req].find((one) => typeof one?.httpVersion === 'string')
  if (found) return found
  throw invalidOption('The request must be from Node, Express or Fastify, or a Koa context')
}

/**
 * Returns Node's response from the response of any framework.
 *
 * @param call The call as the application should write it, for the error.
 * @throws SessmgrError `invalid_option` if there is none.
 */
export function responseOf(response: ResponseLike, call: string): ServerResponse {
  const { raw, res } = Object(response) as { raw?: ServerResponse; res?: ServerResponse }
  const found = [response as ServerResponse, raw, res].find((one) => typeof one?.writeHead === 'function')
  if (found) return found
  throw invalidOption(`The response is missing: write ${call}`)
}
