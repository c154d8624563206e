import { messageOf } from './error-text.ts'
import { SessmgrError } from './errors.ts'

const TICK_MS = 25
/** How often a store that does not answer is asked again. */
const PROBE_MS = 500

interface PendingCall {
  readonly due: number
  readonly expire: () => void
}

/**
 * Calls a store with a deadline, and hardly at all while it does not answer.
 *
 * One coarse timer serves all calls. After a call went past its deadline, and nothing was answered since it began,
 * further ones fail at once, but for one probe now and then, until the store answers again: so neither requests nor
 * commands pile up before a store that hangs.
 */
export class CallDeadline {
  readonly #deadlineMs: number
  readonly #what: string
  readonly #tidy: (cause: unknown) => unknown
  /** In order of the calls, and so, the deadline being one for all, in order of what is due. */
  readonly #pending = new Set<PendingCall>()
  #timer: ReturnType<typeof setInterval> | undefined
  #nextProbe = 0
  #stuck = false
  #lastAnswer = Number.NEGATIVE_INFINITY

  /** @param tidy Takes out of what a store rejects with what nobody may read. */
  constructor(deadlineMs: number, what: string, tidy = (cause: unknown) => cause) {
    this.#deadlineMs = deadlineMs
    this.#what = what
    this.#tidy = tidy
  }

  /** @throws SessmgrError `store_unavailable` when the call fails or gives no answer in time; it may still take effect. */
  run<T>(call: () => PromiseLike<T>): Promise<T> {
    const now = performance.now()
    if (this.#stuck) {
      if (now < this.#nextProbe) return Promise.reject(this.#unavailable('does not answer'))
      this.#nextProbe = now + PROBE_MS
    }
    return new Promise((resolve, reject) => {
      const expire = () => reject(this.#unavailable(`did not answer within ${this.#deadlineMs} ms`))
      const pending: PendingCall = { due: now + this.#deadlineMs, expire }
      this.#pending.add(pending)
      // Once more round the event loop: after a stall of this process, answers that lie ready are read first.
      this.#timer ??= setInterval(() => setImmediate(() => this.#tick()), TICK_MS)
      const settled = () => {
        this.#pending.delete(pending)
        if (this.#pending.size === 0) this.#stopTimer()
      }
      const failed = (cause: unknown) => {
        // A late failure is no sign of life: a client gives up waiting, too.
        if (this.#pending.has(pending)) this.#answered()
        settled()
        reject(cause instanceof SessmgrError ? cause : this.#unavailable('could not be used', this.#tidy(cause)))
      }
      try {
        call().then((value) => {
          this.#answered()
          settled()
          resolve(value)
        }, failed)
      } catch (cause) {
        failed(cause)
      }
    })
  }

  #tick(): void {
    const now = performance.now()
    for (const pending of this.#pending) {
      if (pending.due > now) break
      this.#pending.delete(pending)
      // One call may hang alone, as with one node of a cluster; the store is stuck when nothing has answered since.
      if (this.#lastAnswer < pending.due - this.#deadlineMs) {
        this.#stuck = true
        this.#nextProbe = now + PROBE_MS
      }
      pending.expire()
    }
    if (this.#pending.size === 0) this.#stopTimer()
  }

  #answered(): void {
    this.#stuck = false
    this.#lastAnswer = performance.now()
  }

  #stopTimer(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #unavailable(problem: string, cause?: unknown): SessmgrError {
    const options = cause === undefined ? {} : { cause }
    const error = new SessmgrError('store_unavailable', `The ${this.#what} ${problem}. Try again shortly.`, options)
    // Express's own error handler logs the stack and no cause, and nobody would learn what the store has said.
    if (cause instanceof Error) error.stack += `\nCaused by: ${messageOf(cause)}`
    return error
  }
}
