import { messageOf } from './error-text.ts'
import { SessmgrError } from './errors.ts'

const TICK_MS = 25
/** How often a store that does not answer is asked again. */
const PROBE_MS = 500
/** Ticks without a call after which the timer stops: to start and stop it for each call costs more than to let it run. */
const IDLE_TICKS = 40

/** A call to a store. While it waits for its answer it stands in a row with the others, and nothing holds it after that. */
export abstract class PendingCall {
  /** When it fails for want of an answer. It keeps that when it begins again, in the row of another store. */
  due = 0
  since = 0
  isWaiting = false
  before: PendingCall | undefined = undefined
  after: PendingCall | undefined = undefined

  /** Is told, once, why the call has failed. */
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
  /** The row, in order of what is due. */
  #first: PendingCall | undefined
  #last: PendingCall | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #idleTicks = 0
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
  run<T>(start: () => PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const call = new PromisedCall(reject)
      if (!this.begin(call)) return
      const failed = (cause: unknown) => this.failed(call, cause)
      try {
        start().then((value) => {
          this.answered(call)
          resolve(value)
        }, failed)
      } catch (cause) {
        failed(cause)
      }
    })
  }

  /** Lets a call begin, or begin again with the deadline that it has. False when it must not, and has failed by that. */
  begin(call: PendingCall): boolean {
    const now = performance.now()
    if (this.#stuck) {
      if (now < this.#nextProbe) {
        call.fail(this.#unavailable('does not answer'))
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

  /** Notes that the store has answered a call. False when that comes too late. */
  answered(call: PendingCall): boolean {
    this.#stuck = false
    this.#lastAnswer = performance.now()
    return this.#leave(call)
  }

  /** Fails a call by what the store has said, unless it has failed already: a client gives up waiting, too. */
  failed(call: PendingCall, cause: unknown): void {
    if (!call.isWaiting) return
    this.answered(call)
    call.fail(cause instanceof SessmgrError ? cause : this.#unavailable('could not be used', this.#tidy(cause)))
  }

  /** Puts a call at its place in the row: the last, but for one that has waited elsewhere. */
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
    // Once more round the event loop: after a stall of this process, answers that lie ready are read first.
    this.#timer = setInterval(() => setImmediate(() => this.#tick()), TICK_MS)
  }

  #tick(): void {
    const now = performance.now()
    for (let call = this.#first; call && call.due <= now; call = this.#first) {
      // One call may hang alone, as with one node of a cluster; the store is stuck when nothing has answered since.
      // A call that waited elsewhere before has not been here for long enough to show it.
      if (this.#lastAnswer < call.since && call.due >= call.since + this.#deadlineMs) {
        this.#stuck = true
        this.#nextProbe = now + PROBE_MS
      }
      this.#leave(call)
      call.fail(this.#unavailable(`did not answer within ${this.#deadlineMs} ms`))
    }
    if (this.#first) return
    this.#idleTicks += 1
    // Nobody waits: the process may end.
    this.#timer?.unref()
    if (this.#idleTicks < IDLE_TICKS) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #unavailable(problem: string, cause?: unknown): SessmgrError {
    const options = cause === undefined ? {} : { cause }
    const error = new SessmgrError('store_unavailable', `The ${this.#what} ${problem}. Try again shortly.`, options)
    // Until a stack is read, V8 keeps what its frames were called on: here an Immediate, and the requests behind it.
    const { stack } = error
    // Express's own error handler logs the stack and no cause, and nobody would learn what the store has said.
    if (cause instanceof Error) error.stack = `${stack}\nCaused by: ${messageOf(cause)}`
    return error
  }
}
