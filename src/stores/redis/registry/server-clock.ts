/** How long what was learnt of the server's clock holds before it is asked again. */
const FRESH_MS = 60_000
/** Covers what two servers of a cluster, or a clock that is set right, may differ by. */
const MARGIN_MS = 1000

/**
 * Follows the clock of the Redis server without asking for it on each request.
 *
 * The estimate runs ahead of the server, never behind it. So a session that it takes for live is live; whether one that it
 * takes for expired has expired, the server decides.
 */
export class ServerClock {
  #ahead: number | undefined
  #learntAt = 0

  /** Notes what the server's clock showed, in milliseconds, to a call that was sent at `sentAt` by `performance.now()`. */
  learn(serverMs: number, sentAt: number): void {
    this.#ahead = serverMs - sentAt
    this.#learntAt = performance.now()
  }

  /** Tells whether a moment, by the server's clock, is surely still to come. */
  isToCome(moment: number): boolean {
    return this.#ahead !== undefined && moment > performance.now() + this.#ahead + MARGIN_MS
  }

  /** Tells, once a minute, that the server should be asked again. */
  isDue(): boolean {
    const now = performance.now()
    if (now - this.#learntAt < FRESH_MS) return false
    this.#learntAt = now
    return true
  }
}
