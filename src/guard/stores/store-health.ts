import { PROBE_MS } from '../../ground/call-deadline.ts'
import { withDeadline } from '../../ground/deadline.ts'

/**
 * Finds out whether sessmgr's own store is away. It is asked only while the session store is slow, so that requests
 * that could not be checked anyway need not wait for their session.
 */
export class StoreHealth {
  /** Whether the store failed when it was last asked, or has not responded in time. */
  isAway = false
  readonly #ask: () => PromiseLike<unknown>
  readonly #deadlineMs: number
  #nextAsk = 0
  #isAsking = false

  /** @param deadlineMs How long requests wait while both stores hang. Slow calls ask after a quarter of this time. */
  constructor(ask: () => PromiseLike<unknown>, deadlineMs: number) {
    this.#ask = ask
    this.#deadlineMs = deadlineMs
  }

  /** Asks the store at most every 500 ms, and goes on asking while it is away. */
  suspect(): void {
    const now = performance.now()
    if (this.#isAsking || now < this.#nextAsk) return
    this.#nextAsk = now + PROBE_MS
    this.#isAsking = true
    void this.#askNow()
  }

  async #askNow(): Promise<void> {
    let isAnswered = false
    // One turn later: if this process was blocked, a response that has already arrived is read first.
    const noteSilence = () => {
      if (!isAnswered) this.isAway = true
    }
    const patience = setTimeout(() => setImmediate(noteSilence), this.#deadlineMs * 0.75)
    try {
      const asked = Promise.resolve().then(this.#ask)
      await withDeadline(asked, Math.max(this.#deadlineMs, PROBE_MS), () => new Error())
      this.isAway = false
    } catch {
      this.isAway = true
    }
    isAnswered = true
    clearTimeout(patience)
    this.#isAsking = false
    if (this.isAway) setTimeout(() => this.suspect(), PROBE_MS).unref()
  }
}
