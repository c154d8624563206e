import type { UserId } from '../../ground/user-id.ts'
import type { Token } from '../../sessions/token.ts'
import type { HostResponse, LimitLogin, RequestState } from '../host-types.ts'
import type { WrittenLogin } from './written-login.ts'

/** The login session on which a request goes. */
export interface OriginSession {
  readonly userId: UserId
  readonly token: Token
  /** Whether `sessionUser` could read the user in it. */
  readonly isReadable: boolean
}

interface Origin extends OriginSession {
  /** Settles when the request has given the session up: whether it was live until then. */
  givenUp?: Promise<boolean>
  /** What the request went on before somebody logged in by it: it can come back to that user. */
  readonly earlier: Origin | undefined
}

/**
 * A login whose user is known and whose session is not registered yet.
 *
 * Where the host regenerates the session meanwhile, the one that the visitor came with stays in its store and its slot:
 * another login must not take it for lost, and a refused one leaves it as it was.
 */
export interface LoginUnderWay {
  readonly userId: UserId
  /** The id of the session that the visitor came with; a host gives the login another. */
  readonly sessionId: string
}

/** Where a request keeps its standing: the same property for all copies of the package, which may meet at one request. */
export const STANDING: unique symbol = Symbol.for('sessmgr.standing')

/**
 * What the guard knows of one request: one instance, in one property of the request, and of Express the only one.
 *
 * Nothing that lives on may point at a request or a response. A WeakMap keyed by requests, or an object literal that holds
 * one, keeps them alive past the scavenge that should have freed them, which costs more than the whole check.
 */
export class Standing {
  /** Whose guard the request has passed: two limiters in one application must learn of each other. */
  passed: object | undefined = undefined
  /** What the guard has found out of the session; undefined when that was loaded past the guard. */
  state: RequestState | undefined = undefined
  /** What `req.sessmgr` shows, in Express. */
  shown: RequestState | undefined = undefined
  /** The session id that the request came with, if there is no session for it. */
  presentedId: string | undefined = undefined
  /** What a login of Passport passes, and the response that is its own where the host does not keep it on the request. */
  limitLogin: LimitLogin | undefined = undefined
  response: HostResponse | undefined = undefined
  /** What Passport has assigned to `req.logIn` and `req.login`. */
  assignedLogIn: unknown = undefined
  assignedLogin: unknown = undefined
  login: LoginUnderWay | undefined = undefined
  /** What the last login has written, until its session is written again. */
  writtenLogin: WrittenLogin | undefined = undefined
  /** Id of a session that the request has begun and not written: no store has it. */
  begunId: string | undefined = undefined
  /** Whose guards the request passed before it had a session: no session of theirs may come after that. */
  tooEarlyFor: Set<object> | undefined = undefined
  #origin: Origin | undefined = undefined

  /**
   * Finds the standing of a request; undefined when no guard has seen it.
   *
   * By `Reflect`, since V8 gives each request of Express a shape of its own, which no inline cache knows.
   */
  static of(request: object | undefined): Standing | undefined {
    return request && Reflect.get(request, STANDING)
  }

  /** Finds the standing of a request, giving it one if need be. */
  static at(request: object): Standing {
    return Standing.of(request) ?? new Standing().standFor(request)
  }

  /** Makes this the standing of a request. */
  standFor(request: object): this {
    ;(request as { [STANDING]?: Standing })[STANDING] = this
    return this
  }

  /** Returns what the last login has written, once. */
  takeWrittenLogin(): WrittenLogin | undefined {
    const { writtenLogin } = this
    this.writtenLogin = undefined
    return writtenLogin
  }

  noteTooEarly(guard: object): void {
    this.tooEarlyFor ??= new Set()
    this.tooEarlyFor.add(guard)
  }

  /**
   * Notes the login session with which a request was loaded, or that it has got by a login since.
   *
   * A client decides how long a request is under way. What has ended meanwhile must not go on under another id: whoever
   * makes a new session for the same user has to show that the old one is live, or that this very request gave it up
   * while it was.
   */
  noteOrigin(userId: UserId, token: Token, isReadable: boolean): void {
    this.#origin = { userId, token, isReadable, earlier: this.#origin }
  }

  /** Notes that the request gives a session up, and what becomes of that. */
  giveUp(token: Token, wasLive: Promise<boolean>): void {
    let origin = this.#origin
    while (origin && origin.token !== token) origin = origin.earlier
    if (origin && !origin.givenUp) origin.givenUp = wasLive.catch(() => false)
  }

  /** Finds the session that the request still depends on, of a user if one is named; none once it has given up a live one. */
  async dependsOn(userId?: UserId): Promise<OriginSession | undefined> {
    let origin = this.#origin
    while (origin && userId !== undefined && String(origin.userId) !== String(userId)) origin = origin.earlier
    return (await origin?.givenUp) ? undefined : origin
  }
}
