import type { SessionUse } from '../../../sessions/session-registry.ts'
import type { SessionLife } from './session-codec.ts'

/** How long an estimate of the server's time is used before the time is read again. */
const FRESH_MS = 60_000
/** Allowance for clock differences between the servers of a cluster, and for clock corrections. */
const MARGIN_MS = 1000

/**
 * Estimates the Redis server's clock, so that requests do not have to read it.
 *
 * Checks expiry with an estimate that runs ahead of the server, so a session that seems live is live. Only the server
 * decides that a session has expired.
 */
export class ServerClock {
  #ahead: number | undefined
  #behind: number | undefined
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

  /** Returns the server's time in milliseconds, or slightly less, or undefined until it is known. */
  now(): number | undefined {
    return this.#behind === undefined ? undefined : Math.floor(performance.now() + this.#behind)
  }

  /** Makes the next call to `isDue` return true. Called when a reply contradicts the estimate. */
  doubt(): void {
    this.#learntAt = Number.NEGATIVE_INFINITY
  }

  /** Checks whether a time on the server's clock is certainly in the future. */
  isToCome(moment: number): boolean {
    return this.#ahead !== undefined && moment > performance.now() + this.#ahead + MARGIN_MS
  }

  /** Returns when a session was last used. The estimate is ahead, so the use never seems newer than it is. */
  useOf({ generation, lastSeenAt, expiresAt }: SessionLife): SessionUse {
    const usedAt = lastSeenAt - (this.#ahead ?? Number.POSITIVE_INFINITY)
    return { generation, usedAt, ttlMs: expiresAt - lastSeenAt }
  }

  /** Returns true if the time should be read again: on the first call, after `doubt`, and once a minute. */
  isDue(): boolean {
    const now = performance.now()
    if (now - this.#learntAt < FRESH_MS) return false
    this.#learntAt = now
    return true
  }
}
