import type { Token } from '../sessions/token.ts'
import type { UserId } from '../user-id.ts'

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
    this.#origins.set(request, { userId, token, isReadable })
  }

  /** Notes that a request gives a session up, and what becomes of that. */
  giveUp(request: object | undefined, token: Token, wasLive: Promise<boolean>): void {
    const origin = request && this.#origins.get(request)
    if (origin?.token !== token || origin.givenUp) return
    origin.givenUp = wasLive.catch(() => false)
  }

  /** Finds the session that a request still depends on; none once it has given up a live one. */
  async of(request: object | undefined): Promise<OriginSession | undefined> {
    const origin = request && this.#origins.get(request)
    return (await origin?.givenUp) ? undefined : origin
  }
}
