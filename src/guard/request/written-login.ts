import type { HostSessionData } from '../host-types.ts'
import { sessionTtl } from '../session-ttl.ts'

/** What the answer to a login may shift the expiry of its session by. */
const SLACK_MS = 1000

/** What a login has written of its session: an answer that adds nothing need not write it again. */
export class WrittenLogin {
  readonly #sessionId: string
  readonly #content: string
  readonly #ttlMs: number

  constructor(sessionId: string, data: HostSessionData) {
    this.#sessionId = sessionId
    this.#content = contentOf(data)
    this.#ttlMs = sessionTtl(data)
  }

  /** Tells whether the store has a session as it is now. */
  holds(sessionId: string, data: HostSessionData): boolean {
    const isSame = sessionId === this.#sessionId && contentOf(data) === this.#content
    return isSame && Math.abs(sessionTtl(data) - this.#ttlMs) < SLACK_MS
  }
}

/** All but when the session expires, which each use of it moves on. */
function contentOf({ cookie, _expire, _maxAge, ...rest }: HostSessionData): string {
  const { expires, _expires, originalMaxAge, ...attributes } = cookie ?? {}
  return JSON.stringify([rest, attributes])
}
