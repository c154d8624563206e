import { BoundedMap } from '../../ground/bounded-map.ts'

const CAPACITY = 10_000
/** Longer than a browser usually waits for a page. */
const REMEMBERED_MS = 120_000

/**
 * Raw ids of sessions that a login in this process has just replaced. A request that the browser sent before the response
 * to the login still carries the old id, and must not remove the new cookie.
 */
export class LeftSessions {
  readonly #left = new BoundedMap<string, number>(CAPACITY)

  note(sessionId: string, now = performance.now()): void {
    this.#left.set(sessionId, now + REMEMBERED_MS)
  }

  has(sessionId: string, now = performance.now()): boolean {
    return now < (this.#left.get(sessionId) ?? 0)
  }
}
