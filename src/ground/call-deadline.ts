import { messageOf, SessmgrError } from './errors.ts'

const TICK_MS = 25
/** The timer stops after this many idle ticks. Starting and stopping it for each call would cost more. */
const IDLE_TICKS = 40

/** How often to try a store again while it is not responding. */
const PROBE_MS = 500

/** The most that one turn of the event loop adds to `storeTime()`. Hashing a password may take longer. */
const TURN_MS = 4 * TICK_MS

/** How many timers of {@link CallDeadline} are running. */
let timers = 0
/** When any timer of {@link CallDeadline} last fired. */
let firedAt = 0
/** How many milliseconds the process was busy while calls waited. */
let busyMs = 0

/**
 * Returns a time in milliseconds that stops while this process is too busy to read the responses of stores. The
 * deadlines of all store calls use it.
 */
function storeTime(): number {
  const now = performance.now()
  // A turn that takes too long is only subtracted when a timer fires. Until then, no time passes.
  return (timers === 0 ? now : Math.min(now, firedAt + TURN_MS)) - busyMs
}

/** A call to a store. While it is pending, it is in the queue of its store; afterwards, nothing refers to it. */
export abstract class PendingCall {
  /** When the call times out, by `storeTime()`. */
  due = 0
  since = 0
  /** Whether a lock may delay the call even while the store is responding. */
  mayBeLocked = false
  isWaiting = false
  before: PendingCall | undefined = undefined
  after: PendingCall | undefined = undefined

  /** Fails the call with the reason. Called at most once. */
  abstract fail(error: unknown): void
}

/** What stands before each frame of a stack. */
const FRAME = '\n    at '

/** Creates the error for a call that failed with `cause`, or that the store did not answer. */
export function unavailable(what: string, problem: string, cause?: unknown): SessmgrError {
  const options = cause === undefined ? {} : { cause }
  const error = new SessmgrError('store_unavailable', `The ${what} ${problem}. Try again shortly.`, options)
  // Reading the stack releases its frames. They would otherwise keep an Immediate and its requests in memory.
  const { stack = '' } = error
  // Express's error handler logs the stack but not the cause, whose message says what to do: it comes before the frames.
  if (cause instanceof Error) {
    const [header, ...frames] = stack.split(FRAME)
    error.stack = [`${header}\nCaused by: ${messageOf(cause)}`, ...frames].join(FRAME)
  }
  return error
}

class PromisedCall extends PendingCall {
  readonly fail: (error: unknown) => void

  constructor(fail: (error: unknown) => void) {
    super()
    this.fail = fail
  }
}

/**
 * Runs store calls with a deadline; while the store is not responding, sends only a probe every 500 ms.
 *
 * If a call times out and the store has not responded since it began, further calls fail at once, except for probes.
 * This lasts until the store responds, so that requests and commands do not pile up.
 */
export class CallDeadline {
  /** The calls that wait, sorted by deadline. One coarse timer serves all of them. */
  #first: PendingCall | undefined
  #last: PendingCall | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #idleTicks = 0
  readonly #deadlineMs: number
  readonly #what: string
  readonly #tidy: (cause: unknown) => unknown
  readonly #mostLate: number
  /** How many calls have timed out and still have no response. Each may hold a connection of the application's pool. */
  #late = 0
  #nextProbe = 0
  #stuck = false
  #lastAnswer = Number.NEGATIVE_INFINITY

  /**
   * @param tidy Removes confidential parts from the store's errors.
   * @param mostLate How many timed-out calls may hang. Once this many do, no further call is started.
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

  /**
   * Runs a call.
   *
   * @param mayBeLocked Whether a lock may delay the call, so that its timeout says nothing about the store.
   * @throws SessmgrError `store_unavailable` if the call fails or times out. The call may still take effect.
   */
  run<T>(start: () => PromiseLike<T>, mayBeLocked = false): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#late >= this.#mostLate) return reject(this.#unavailable('is not responding'))
      const call = new PromisedCall(reject)
      call.mayBeLocked = mayBeLocked
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

  /** Starts a call, or restarts it with its old deadline. If the call is refused, fails it and returns false. */
  begin(call: PendingCall): boolean {
    if (this.#stuck) {
      if (performance.now() < this.#nextProbe) {
        call.fail(this.#unavailable('is not responding'))
        return false
      }
      this.#nextProbe = performance.now() + PROBE_MS
    }
    const now = storeTime()
    call.since = now
    // A call that is repeated on another store keeps its deadline.
    call.due ||= now + this.#deadlineMs
    this.#join(call)
    return true
  }

  /** Records a response. Returns false if it came too late. */
  answered(call: PendingCall): boolean {
    this.#stuck = false
    this.#lastAnswer = storeTime()
    return this.#leave(call)
  }

  /** Fails a call with the store's error, unless the call has already timed out. */
  failed(call: PendingCall, cause: unknown): void {
    if (!call.isWaiting) return
    this.answered(call)
    call.fail(cause instanceof SessmgrError ? cause : this.#unavailable('could not be used', this.#tidy(cause)))
  }

  /** Fails the calls that have waited too long. Called while calls are waiting, and shortly afterwards. */
  #check(now: number): void {
    for (let call = this.#first; call && call.due <= now; call = this.#first) {
      // A single call may hang, for example on one node of a cluster. The store counts as stuck only if it has not
      // responded to anything since. A call that began on another store has not waited here long enough to tell.
      if (!call.mayBeLocked && this.#lastAnswer < call.since && call.due >= call.since + this.#deadlineMs) {
        this.#stuck = true
        this.#nextProbe = performance.now() + PROBE_MS
      }
      this.#leave(call)
      this.#late += 1
      call.fail(this.#unavailable(`did not respond within ${this.#deadlineMs} ms`))
    }
  }

  /** Inserts a call in the order of deadlines: at the end, unless the call has already waited on another store. */
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
    if (this.#timer === undefined) this.#startTimer()
    else if (this.#idleTicks > 0) this.#timer.ref()
    this.#idleTicks = 0
  }

  /** Removes a call. Returns false if it is not waiting. */
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
    if (timers === 0) firedAt = performance.now()
    timers += 1
    const timer = setInterval(() => {
      const firesAt = performance.now()
      busyMs += Math.max(0, firesAt - firedAt - TURN_MS)
      firedAt = firesAt
      const now = storeTime()
      // Check one turn later: if this process was busy, responses that have already arrived are read first.
      setImmediate(() => this.#tick(now, timer))
    }, TICK_MS)
    this.#timer = timer
  }

  #tick(now: number, timer: ReturnType<typeof setInterval>): void {
    // Fake timers in an application's tests cannot clear a real one, and delay its ticks.
    if (timer !== this.#timer) return clearInterval(timer)
    this.#check(now)
    if (this.#first) return
    this.#idleTicks += 1
    // No call is waiting, so the process may exit.
    timer.unref()
    if (this.#idleTicks < IDLE_TICKS) return
    clearInterval(timer)
    this.#timer = undefined
    timers -= 1
  }

  #unavailable(problem: string, cause?: unknown): SessmgrError {
    return unavailable(this.#what, problem, cause)
  }
}
