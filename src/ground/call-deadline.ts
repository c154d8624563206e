import { messageOf } from './error-text.ts'
import { SessmgrError } from './errors.ts'

const TICK_MS = 25
/** How often to try a store again while it is not responding. */
const PROBE_MS = 500
/** The timer stops after this many idle ticks. Starting and stopping it for each call would cost more. */
const IDLE_TICKS = 40

/** A call to a store. While it is pending, it is in a queue; afterwards, nothing refers to it. */
export abstract class PendingCall {
  /** When it times out. A call that is repeated on another store keeps its deadline. */
  due = 0
  since = 0
  isWaiting = false
  before: PendingCall | undefined = undefined
  after: PendingCall | undefined = undefined

  /** Called at most once, with the reason. */
  abstract fail(error: SessmgrError): void
}

class PromisedCall extends PendingCall {
  readonly fail: (error: SessmgrError) => void

  constructor(fail: (error: SessmgrError) => void) {
    super()
    this.fail = fail
  }
}

/**
 * Runs store calls with a deadline; while the store is not responding, sends only a probe every 500 ms.
 *
 * One coarse timer serves all calls. If a call times out and the store has not responded since it began, further calls
 * fail at once, except for probes. This lasts until the store responds, so that requests and commands do not pile up.
 */
export class CallDeadline {
  readonly #deadlineMs: number
  readonly #what: string
  readonly #tidy: (cause: unknown) => unknown
  readonly #mostLate: number
  /** How many calls have timed out and still have no response. Each may hold a connection of the application's pool. */
  #late = 0
  /** The waiting calls, sorted by deadline. */
  #first: PendingCall | undefined
  #last: PendingCall | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #idleTicks = 0
  #nextProbe = 0
  #stuck = false
  #lastAnswer = Number.NEGATIVE_INFINITY

  /**
   * @param tidy Removes confidential parts from the store's errors.
   * @param mostLate How many calls may stay without a response before no further one is started.
   */
  constructor(
    deadlineMs: number,
    what: string,
    { tidy = (cause: unknown) => cause, mostLate = Number.POSITIVE_INFINITY } = {},
  ) {
    this.#deadlineMs = deadlineMs
    this.#what = what
    this.#tidy = tidy
    this.#mostLate = mostLate
  }

  /** @throws SessmgrError `store_unavailable` if the call fails or times out. The call may still take effect. */
  run<T>(start: () => PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#late >= this.#mostLate) return reject(this.#unavailable('is not responding'))
      const call = new PromisedCall(reject)
      if (!this.begin(call)) return
      const failed = (cause: unknown) => {
        if (!call.isWaiting) this.#late -= 1
        this.failed(call, cause)
      }
      try {
        start().then((value) => {
          if (!this.answered(call)) this.#late -= 1
          resolve(value)
        }, failed)
      } catch (cause) {
        failed(cause)
      }
    })
  }

  /** Starts a call, or restarts it with its old deadline. Returns false if the call was refused, after failing it. */
  begin(call: PendingCall): boolean {
    const now = performance.now()
    if (this.#stuck) {
      if (now < this.#nextProbe) {
        call.fail(this.#unavailable('is not responding'))
        return false
      }
      this.#nextProbe = now + PROBE_MS
    }
    call.since = now
    call.due ||= now + this.#deadlineMs
    this.#join(call)
    if (this.#timer === undefined) this.#startTimer()
    else if (this.#idleTicks > 0) this.#timer.ref()
    this.#idleTicks = 0
    return true
  }

  /** Records a response. Returns false if it came too late. */
  answered(call: PendingCall): boolean {
    this.#stuck = false
    this.#lastAnswer = performance.now()
    return this.#leave(call)
  }

  /** Fails a call with the store's error, unless the call has already timed out. */
  failed(call: PendingCall, cause: unknown): void {
    if (!call.isWaiting) return
    this.answered(call)
    call.fail(cause instanceof SessmgrError ? cause : this.#unavailable('could not be used', this.#tidy(cause)))
  }

  /** Inserts a call by its deadline: at the end, unless the call has already waited on another store. */
  #join(call: PendingCall): void {
    let before = this.#last
    while (before && before.due > call.due) before = before.before
    const after = before ? before.after : this.#first
    call.before = before
    call.after = after
    if (before) before.after = call
    else this.#first = call
    if (after) after.before = call
    else this.#last = call
    call.isWaiting = true
  }

  #leave(call: PendingCall): boolean {
    if (!call.isWaiting) return false
    const { before, after } = call
    if (before) before.after = after
    else this.#first = after
    if (after) after.before = before
    else this.#last = before
    call.isWaiting = false
    call.before = undefined
    call.after = undefined
    return true
  }

  #startTimer(): void {
    // Check one turn later: if this process was blocked, responses that have already arrived are read first.
    this.#timer = setInterval(() => setImmediate(() => this.#tick()), TICK_MS)
  }

  #tick(): void {
    const now = performance.now()
    for (let call = this.#first; call && call.due <= now; call = this.#first) {
      // One call may hang by itself, for example on one node of a cluster. The store counts as stuck only if it has not
      // responded to anything since. A call that began on another store has not waited here long enough to tell.
      if (this.#lastAnswer < call.since && call.due >= call.since + this.#deadlineMs) {
        this.#stuck = true
        this.#nextProbe = now + PROBE_MS
      }
      this.#leave(call)
      this.#late += 1
      call.fail(this.#unavailable(`did not respond within ${this.#deadlineMs} ms`))
    }
    if (this.#first) return
    this.#idleTicks += 1
    // No call is waiting, so the process may exit.
    this.#timer?.unref()
    if (this.#idleTicks < IDLE_TICKS) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #unavailable(problem: string, cause?: unknown): SessmgrError {
    const options = cause === undefined ? {} : { cause }
    const error = new SessmgrError('store_unavailable', `The ${this.#what} ${problem}. Try again shortly.`, options)
    // Reading the stack releases its frames. They would otherwise keep an Immediate and its requests in memory.
    const { stack } = error
    // Express's error handler logs the stack but not the cause, which carries the store's message.
    if (cause instanceof Error) error.stack = `${stack}\nCaused by: ${messageOf(cause)}`
    return error
  }
}
