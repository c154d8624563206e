/** How long the known time of the server is used before it is read again. */
const FRESH_MS = 60_000
/** Allowance for different clocks of a cluster's servers, and for corrections of a clock. */
const MARGIN_MS = 1000

/**
 * Estimates the clock of the Redis server without a call for each request.
 *
 * The estimate is ahead of the server, never behind. A session it considers live is live; whether one has expired, the
 * server decides.
 */
export class ServerClock {
  #ahead: number | undefined
  #learntAt = Number.NEGATIVE_INFINITY

  /** Records the server's time in milliseconds, from a call sent at `sentAt` by `performance.now()`. */
  learn(serverMs: number, sentAt: number): void {
    this.#ahead = serverMs - sentAt
    this.#learntAt = performance.now()
  }

  /** Checks whether a time on the server's clock is certainly in the future. */
  isToCome(moment: number): boolean {
    return this.#ahead !== undefined && moment > performance.now() + this.#ahead + MARGIN_MS
  }

  /** Returns true at first and once a minute, when the time should be read again. */
  isDue(): boolean {
    const now = performance.now()
    if (now - this.#learntAt < FRESH_MS) return false
    this.#learntAt = now
    return true
  }
}
