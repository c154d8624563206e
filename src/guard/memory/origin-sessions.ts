import type { UserId } from '../../ground/user-id.ts'
import type { Token } from '../../sessions/token.ts'

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
 * Knows the login session that each request was loaded with, or has got by a login since.
 *
 * A client decides how long a request is under way. What has ended meanwhile must not go on under another id: whoever
 * makes a new session for the same user has to show that the old one is live, or that this very request gave it up while
 * it was.
 */
export class OriginSessions {
  readonly #origins = new WeakMap<object, Origin>()

  note(request: object, { userId, token, isReadable }: OriginSession): void {
    this.#origins.set(request, { userId, token, isReadable, earlier: this.#origins.get(request) })
  }

  /** Notes that a request gives a session up, and what becomes of that. */
  giveUp(request: object | undefined, token: Token, wasLive: Promise<boolean>): void {
    let origin = request && this.#origins.get(request)
    while (origin && origin.token !== token) origin = origin.earlier
    if (origin && !origin.givenUp) origin.givenUp = wasLive.catch(() => false)
  }

  /** Finds the session that a request still depends on, of a user if one is named; none once it has given up a live one. */
  async of(request: object | undefined, userId?: UserId): Promise<OriginSession | undefined> {
    let origin = request && this.#origins.get(request)
    while (origin && userId !== undefined && String(origin.userId) !== String(userId)) origin = origin.earlier
    return (await origin?.givenUp) ? undefined : origin
  }
}
