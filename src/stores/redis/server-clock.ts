/** How long an estimate of the server's time is used before the time is read again. */
const FRESH_MS = 60_000
/** Allowance for clock differences between the servers of a cluster, and for clock corrections. */
const MARGIN_MS = 1000

/**
 * Estimates the Redis server's clock, so that requests do not have to read it.
 *
 * A session that has not expired by the latest estimate is live. Only the server decides that a session has expired.
 */
export class ServerClock {
  #ahead: number | undefined
  #behind = 0
  #learntAt = Number.NEGATIVE_INFINITY

  /**
   * Records the server's time in milliseconds, as reported by a call that was sent when `performance.now()` was
   * `sentAt`.
   */
  learn(serverMs: number, sentAt: number): void {
    this.#ahead = serverMs - sentAt
    this.#learntAt = performance.now()
    this.#behind = serverMs - this.#learntAt
  }

  /** Returns a time in milliseconds that the server's clock has not reached, or undefined until its time is known. */
  latest(): number | undefined {
    return this.#ahead === undefined ? undefined : Math.ceil(performance.now() + this.#ahead + MARGIN_MS)
  }

  /** Returns a time in milliseconds that the server's clock has certainly reached. */
  earliest(): number {
    return Math.floor(performance.now() + this.#behind)
  }

  /** Returns true if the time should be read again: on the first call, and once a minute. */
  isDue(): boolean {
    const now = performance.now()
    if (now - this.#learntAt < FRESH_MS) return false
    this.#learntAt = now
    return true
  }
}
