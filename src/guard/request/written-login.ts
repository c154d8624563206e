import type { HostSessionData } from '../host-types.ts'
import { sessionTtl } from '../session-ttl.ts'

/** How much the response to a login may change the expiry of its session. */
const SLACK_MS = 1000

/** The session data that a login has written. A response that changes nothing does not have to write it again. */
export class WrittenLogin {
  readonly #sessionId: string
  readonly #content: string
  readonly #ttlMs: number

  constructor(sessionId: string, data: HostSessionData) {
    this.#sessionId = sessionId
    this.#content = contentOf(data)
    this.#ttlMs = sessionTtl(data)
  }

  /** Checks whether the store already has the current data of a session. */
  holds(sessionId: string, data: HostSessionData): boolean {
    const isSame = sessionId === this.#sessionId && contentOf(data) === this.#content
    return isSame && Math.abs(sessionTtl(data) - this.#ttlMs) < SLACK_MS
  }
}

/** Returns the data without its expiry, which changes with each use. */
function contentOf({ cookie, _expire, _maxAge, ...rest }: HostSessionData): string {
  const { expires, _expires, originalMaxAge, ...attributes } = cookie ?? {}
  return JSON.stringify([rest, attributes])
}
