import { CallQueue, type PendingCall, PROBE_MS, storeTime, unavailable } from '../../ground/call-deadline.ts'
import { asStoreError } from './store-error.ts'
import type { StoreHealth } from './store-health.ts'

/** How long the calls to a session store may take. */
export interface SessionTimes {
  /** The deadline of every call, in milliseconds. */
  readonly sessionStoreDeadlineMs: number
  /** How long a read may take while sessmgr's own store is away, in milliseconds. */
  readonly deadlineMs: number
  /** Knows whether sessmgr's own store is away. */
  readonly health: StoreHealth
}

const WHAT = 'session store'

/**
 * Runs calls to the application's session store, each with a deadline of its own.
 *
 * However slow the store is, no call refuses another: a store that waits for a lock is not broken. Only reads are
 * refused early, while sessmgr's own store is away as well. Without it, no session could be checked.
 */
export class SessionDeadline extends CallQueue {
  readonly #times: SessionTimes
  #isStuck = false
  #nextProbe = 0
  #lastAnswer = Number.NEGATIVE_INFINITY

  constructor(times: SessionTimes) {
    super()
    this.#times = times
  }

  /** Starts a call. Returns false if it was refused, after failing it. */
  begin(call: PendingCall): boolean {
    if (call.isRead && !this.#mayRead()) {
      call.fail(unavailable(WHAT, 'is not responding'))
      return false
    }
    const now = storeTime()
    call.since = now
    call.due = now + this.#times.sessionStoreDeadlineMs
    this.join(call)
    return true
  }

  /** Records a response. Returns false if it came too late. */
  answered(call: PendingCall): boolean {
    this.#isStuck = false
    this.#lastAnswer = storeTime()
    return this.leave(call)
  }

  /** Fails a call with the store's own error, unless the call has already timed out. */
  failed(call: PendingCall, error: unknown, sessionId: string): void {
    if (call.isWaiting && this.answered(call)) call.fail(asStoreError(error, sessionId))
  }

  protected check(now: number): void {
    const { sessionStoreDeadlineMs, deadlineMs, health } = this.#times
    for (let call = this.first; call && call.due <= now; call = this.first) {
      this.leave(call)
      call.fail(unavailable(WHAT, `did not respond within ${sessionStoreDeadlineMs} ms`))
    }
    let next: PendingCall | undefined
    for (let call = this.first; call && call.since + deadlineMs / 4 <= now; call = next) {
      next = call.after
      if (!call.isRead) continue
      health.suspect()
      if (!health.isAway || now < call.since + deadlineMs) continue
      if (this.#lastAnswer < call.since) {
        this.#isStuck = true
        this.#nextProbe = performance.now() + PROBE_MS
      }
      this.leave(call)
      call.fail(unavailable(WHAT, `did not respond within ${deadlineMs} ms`))
    }
  }

  /** Lets a probe through now and then while neither store responds, so that commands do not pile up. */
  #mayRead(): boolean {
    if (!this.#isStuck) return true
    const now = performance.now()
    if (this.#times.health.isAway && now < this.#nextProbe) return false
    this.#nextProbe = now + PROBE_MS
    return true
  }
}
