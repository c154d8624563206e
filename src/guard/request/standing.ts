import type { UserId } from '../../ground/user-id.ts'
import type { Token } from '../../sessions/session-record.ts'
import type { HostResponse, LimitLogin, Next, RequestState } from '../host-types.ts'
import type { WrittenLogin } from './written-login.ts'

/** The login session that a request depends on. */
export interface OriginSession {
  readonly userId: UserId
  readonly token: Token
  /** Whether `sessionUser` could read its user. */
  readonly isReadable: boolean
}

interface Origin extends OriginSession {
  /** Settles once the request has given up the session. Resolves to true if the session was live until then. */
  givenUp?: Promise<boolean>
  /** What the request depended on before its last login. A new login of that earlier user depends on it again. */
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
  /** Id of the visitor's session. The login gets a different one. */
  readonly sessionId: string
  /** When the login began, in milliseconds. */
  readonly at: number
}

/**
 * Key of a request's standing. All copies of the package use the same one, because they may handle the same request.
 */
export const STANDING: unique symbol = Symbol.for('sessmgr.standing')

/** A request, or an object in its place, that holds the standing. */
export interface StandingHolder {
  [STANDING]?: Standing
}

/**
 * What the guard knows about one request. Each request has one instance, in one property.
 *
 * Objects that live on must not refer to requests or responses. A WeakMap keyed by requests, or an object that refers
 * to a request, keeps requests alive past the scavenge that should free them. That costs more than the whole check.
 */
export class Standing {
  /** The guard that the request has passed, which lets two limiters in one application detect each other. */
  passed: object | undefined = undefined
  /** What the guard found out about the session; undefined if it was loaded without the guard. */
  state: RequestState | undefined = undefined
  /** The value of `req.sessmgr` in Express. */
  shown: RequestState | undefined = undefined
  /** The session id that the request sent, if there is no session for it. */
  presentedId: string | undefined = undefined
  /** The login limit for Passport, and the response if the request does not refer to it. */
  limitLogin: LimitLogin | undefined = undefined
  response: HostResponse | undefined = undefined
  /** Continues an Express request. Errors that come after its response reach the application through this. */
  next: Next | undefined = undefined
  /** What Passport has assigned to `req.logIn` and `req.login`. */
  assignedLogIn: unknown = undefined
  assignedLogin: unknown = undefined
  login: LoginUnderWay | undefined = undefined
  /** The sessions that the user has chosen to end. Set by the choice page for the login that it continues. */
  chosen: readonly Token[] | undefined = undefined
  /** What the last login wrote, until its session is written again. */
  writtenLogin: WrittenLogin | undefined = undefined
  /** Id of a new session that has not been written yet, so no store has it. */
  begunId: string | undefined = undefined
  /** Id of the session that the request has given up. */
  leftId: string | undefined = undefined
  /** Whether the request had no session when it passed sessmgr. A login in a session that it gets later is refused. */
  isTooEarly = false
  #origin: Origin | undefined = undefined

  /** Returns the standing of a request, or undefined if no guard has seen the request. */
  static of(request: object | undefined): Standing | undefined {
    return (request as StandingHolder | undefined)?.[STANDING]
  }

  /** Returns the standing of a request, creating it if needed. */
  static at(request: object): Standing {
    const holder: StandingHolder = request
    holder[STANDING] ??= new Standing()
    return holder[STANDING]
  }

  /** Makes this the standing of a request. */
  standFor(request: object): void {
    const holder: StandingHolder = request
    holder[STANDING] = this
  }

  /** Returns what the last login wrote, but only once. */
  takeWrittenLogin(): WrittenLogin | undefined {
    const { writtenLogin } = this
    this.writtenLogin = undefined
    return writtenLogin
  }

  /**
   * Records the login session that a request was loaded with, or received by a login.
   *
   * Clients decide how long a request takes. If a session ends in the meantime, it must not continue under another id.
   * A new session for the same user requires that the old one is live, or was live when this request gave it up.
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
  giveUp(token: Token, wasLive: Promise<boolean>): void {
    let origin = this.#origin
    while (origin && origin.token !== token) origin = origin.earlier
    if (origin && !origin.givenUp) origin.givenUp = wasLive.catch(() => false)
  }

  /**
   * Returns the session that the request still depends on, optionally only if it belongs to a given user. Resolves to
   * undefined once the request has given up a live session.
   */
  async dependsOn(userId?: UserId): Promise<OriginSession | undefined> {
    let origin = this.#origin
    while (origin && userId !== undefined && String(origin.userId) !== String(userId)) origin = origin.earlier
    return (await origin?.givenUp) ? undefined : origin
  }
}
