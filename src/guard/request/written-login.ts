import type { HostSessionData } from '../host-types.ts'
import { MARKER_KEY, markIn } from '../marker-place.ts'
import { cookieTtl, lifeOf } from '../session-ttl.ts'

/** How much the response to a login may change the expiry of its session. */
const SLACK_MS = 1000

/** express-session shortens a lifetime by the time between two looks at the clock. */
const TICKS_MS = 10

/** The session data that a login has written. A response that changes nothing does not have to write it again. */
export class WrittenLogin {
  readonly #sessionId: string
  readonly #content: string
  readonly #ttlMs: number | undefined
  readonly #lifeMs: number | undefined

  constructor(sessionId: string, data: HostSessionData) {
    this.#sessionId = sessionId
    this.#content = contentOf(data)
    this.#ttlMs = cookieTtl(data)
    this.#lifeMs = lifeOf(data)
  }

  /** Checks whether the store already has the current data of a session. */
  holds(sessionId: string, data: HostSessionData): boolean {
    const isSame = sessionId === this.#sessionId && contentOf(data) === this.#content
    return isSame && isNear(cookieTtl(data), this.#ttlMs, SLACK_MS) && isNear(lifeOf(data), this.#lifeMs, TICKS_MS)
  }
}

/** Checks whether two times are almost the same, or both missing. */
function isNear(one: number | undefined, other: number | undefined, slack: number): boolean {
  return one === other || Math.abs((one ?? Number.NaN) - (other ?? Number.NaN)) < slack
}

/** Returns the data without its expiry, which changes with each use. */
function contentOf(data: HostSessionData): string {
  const { cookie, _expire, _maxAge, [MARKER_KEY]: _, ...rest } = data
  const { expires, _expires, originalMaxAge, ...attributes } = cookie ?? {}
  return JSON.stringify([rest, attributes, markIn(data)])
}
