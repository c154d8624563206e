import { CallDeadline, CallQueue, PendingCall, PROBE_MS, storeTime, unavailable } from '../../ground/call-deadline.ts'
import { withDeadline } from '../../ground/deadline.ts'
import type { HostSessionData, HostStore } from '../host-types.ts'
import { HIDDEN_PAIR, type Hiding, PAIR_KEY } from '../pair.ts'
import { asStoreError } from './store-error.ts'

/**
 * A call to a session store. Its methods must not throw, because a store may mistake an exception for its own failure.
 */
export abstract class StoreCall<T = void> extends PendingCall {
  /** Called with the result, at most once. */
  abstract answer(value: T): void
}

class PromisedCall<T> extends StoreCall<T> {
  readonly answer: (value: T) => void
  readonly fail: (error: unknown) => void

  constructor(resolve: (value: T) => void, reject: (error: unknown) => void) {
    super()
    this.answer = resolve
    this.fail = reject
  }
}

/** Starts a call and returns its result as a promise. */
export function promised<T>(start: (call: StoreCall<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => start(new PromisedCall(resolve, reject)))
}

/** Calls a callback only after the store's method has returned, so that the callback's errors reach the caller. */
class CallbackCall extends StoreCall {
  readonly #done: (error: unknown) => void
  #isStarting = true
  #early: { readonly error: unknown } | undefined

  constructor(done: (error: unknown) => void) {
    super()
    this.#done = done
  }

  answer(): void {
    this.fail(null)
  }

  fail(error: unknown): void {
    if (this.#isStarting) this.#early = { error }
    else process.nextTick(this.#done, error)
  }

  started(): void {
    this.#isStarting = false
    if (this.#early) this.#done(this.#early.error)
  }
}

/** Passes the result of a call to a callback: synchronously if the store responds before its method returns. */
export function calledBack(start: (call: StoreCall) => void, done: (error: unknown) => void): void {
  const call = new CallbackCall(done)
  start(call)
  call.started()
}

/**
 * Passes the result of a promise to a callback, outside the promise, so that the callback's errors are not swallowed.
 * Without a callback, returns the promise.
 *
 * @param fail Handles a failure and calls the callback. By default, the callback receives the error.
 */
export function answerCallback<T>(
  outcome: Promise<T>,
  callback?: (error?: unknown, value?: T) => void,
  fail?: (error: unknown, callback: (error?: unknown) => void) => void,
): Promise<T> | undefined {
  if (!callback) {
    // Callers who await the promise see its failure. If nobody does, the failure must not crash the process.
    outcome.catch(() => {})
    return outcome
  }
  outcome.then(
    (value) => process.nextTick(callback, null, value),
    (error) => (fail ? fail(error, callback) : process.nextTick(callback, error)),
  )
  return undefined
}

/**
 * The methods of a session store, each with a deadline. They fail with the store's own errors, or with
 * `store_unavailable`.
 *
 * `request` is the request that a call belongs to, for stores that receive it.
 */
export interface StoreCalls {
  /** Reads a session. `from` is the same store on another connection. */
  read(sessionId: string, call: StoreCall<HostSessionData | undefined>, from?: object): void
  get(sessionId: string, request?: object): Promise<HostSessionData | undefined>
  set(sessionId: string, data: HostSessionData, request?: object): Promise<void>
  /** Like `set`, but without a promise. Undefined if the store's methods return promises. */
  write?: ((sessionId: string, data: HostSessionData, call: StoreCall) => void) | undefined
  destroy(sessionId: string, request?: object): Promise<void>
  /** Records the use of a session. Undefined if the store has no such method. */
  touch?: ((sessionId: string, data: HostSessionData, call: StoreCall) => void) | undefined
  /** Set by the guard. Called if a write succeeds after its deadline, with the written pair. */
  wroteLate?: ((sessionId: string, data: HostSessionData) => void) | undefined
}

/**
 * Returns a session as its store receives it. If the pair is hidden, returns a copy that shows it. Like
 * express-session's sessions, the copy refers to its request.
 */
export function storable(data: Hiding): HostSessionData {
  const pair = data[HIDDEN_PAIR]
  if (pair === undefined) return data
  const { req, id } = data
  const copy: Hiding = Object.assign(Object.create(Object.getPrototypeOf(data)), data)
  delete copy[HIDDEN_PAIR]
  copy[PAIR_KEY] = pair
  if (req !== undefined && !Object.hasOwn(copy, 'req')) Object.defineProperty(copy, 'req', { value: req })
  if (id !== undefined && !Object.hasOwn(copy, 'id')) Object.defineProperty(copy, 'id', { value: id })
  return copy
}

/**
 * Returns a copy of the session's pair only, for a write that may finish late. By then, the session may have changed.
 */
export function pairOnly({ [PAIR_KEY]: pair }: HostSessionData): HostSessionData {
  return pair === undefined ? {} : { [PAIR_KEY]: pair }
}

/** Checks whether an error only means that the session does not exist, as with file stores. */
export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 'ENOENT'
}

type Callback<T> = (error?: unknown, value?: T) => void
/** A method of a store, with a callback as the last parameter. */
type Method = (sessionId: string, ...further: unknown[]) => unknown

/**
 * Returns a function that finds the deadline of another connection to the store. That connection is sessmgr's own, so
 * it has the deadline of sessmgr's store. Each connection is timed separately, so that a hanging connection does not
 * affect others.
 */
function otherDeadlines({ deadlineMs }: SessionTimes): (target: object) => CallDeadline {
  let last: { readonly target: object; readonly deadline: CallDeadline } | undefined
  return (target) => {
    if (last?.target !== target) last = { target, deadline: new CallDeadline(deadlineMs, 'session store') }
    return last.deadline
  }
}

/** Returns the calls to a store's own methods. Call it before the guard replaces these methods. */
export function storeCalls(store: HostStore, times: SessionTimes): StoreCalls {
  const { get, set, destroy, touch } = store as unknown as { get: Method; set: Method; destroy: Method; touch?: Method }
  const ownDeadline = new SessionDeadline(times)
  const otherDeadline = otherDeadlines(times)

  function start<T>(
    call: StoreCall<T | undefined>,
    mayBeMissing: boolean,
    target: object,
    method: Method,
    sessionId: string,
    data?: HostSessionData,
    late?: () => void,
  ): void {
    const deadline = target === store ? ownDeadline : otherDeadline(target)
    if (!deadline.begin(call)) return
    let isAnswered = false
    try {
      const callback: Callback<T | null> = (error, value) => {
        // Some stores call back twice. The second call must not count as a late result.
        if (isAnswered) return
        isAnswered = true
        if (error && !(mayBeMissing && isMissing(error))) deadline.failed(call, error, sessionId)
        else if (deadline.answered(call)) call.answer(error ? undefined : (value ?? undefined))
        else late?.()
      }
      if (data) method.call(target, sessionId, data, callback)
      else method.call(target, sessionId, callback)
    } catch (error) {
      deadline.failed(call, error, sessionId)
    }
  }

  const calls: StoreCalls = {
    read(sessionId, call, from = store) {
      call.mayFailEarly = true
      start(call, true, from, get, sessionId)
    },
    get: (sessionId) => promised((call) => calls.read(sessionId, call)),
    set: (sessionId, data, request) =>
      promised((call) => {
        call.mayFailEarly = isOfLogin(request)
        calls.write?.(sessionId, data, call)
      }),
    write(sessionId, data, call) {
      const stored = storable(data)
      const written = pairOnly(stored)
      const late = () => calls.wroteLate?.(sessionId, written)
      start(call, false, store, set, sessionId, stored, late)
    },
    destroy: (sessionId, request) =>
      promised((call) => {
        call.mayFailEarly = isOfLogin(request)
        start(call, true, store, destroy, sessionId)
      }),
    touch: touch && ((sessionId, data, call) => start(call, true, store, touch, sessionId, storable(data))),
  }
  return calls
}

/**
 * Checks whether a call belongs to a login in progress. Such a call may fail early, because no login is admitted
 * without sessmgr's own store.
 */
export function isOfLogin(request: object = {}): boolean {
  return (request as { readonly login?: unknown }).login !== undefined
}

interface CallOptions {
  /** See {@link PendingCall.mayFailEarly}. @default false */
  readonly mayFailEarly?: boolean
  /** Called if the call succeeds after its deadline. */
  readonly late?: () => void
}

/** Returns a function that calls a session store whose methods return promises. */
export function sessionCall(deadline: SessionDeadline) {
  return <T>(sessionId: string, run: () => T | PromiseLike<T>, { mayFailEarly = false, late }: CallOptions = {}) =>
    promised<T>(async (call) => {
      call.mayFailEarly = mayFailEarly
      if (!deadline.begin(call)) return
      try {
        const value = await run()
        if (deadline.answered(call)) call.answer(value)
        else late?.()
      } catch (error) {
        deadline.failed(call, error, sessionId)
      }
    })
}

/**
 * Like {@link sessionCall}, for reads, with only one promise. Each connection passed as `from` has its own deadline.
 */
export function sessionReads(times: SessionTimes, own = new SessionDeadline(times)) {
  const other = otherDeadlines(times)
  return (sessionId: string, call: StoreCall<HostSessionData | undefined>, run: () => unknown, from?: object): void => {
    call.mayFailEarly = true
    const deadline = from ? other(from) : own
    if (!deadline.begin(call)) return
    const answer = (data: unknown) => {
      if (deadline.answered(call)) call.answer((data as HostSessionData | null) ?? undefined)
    }
    const fail = (error: unknown) => (isMissing(error) ? answer(undefined) : deadline.failed(call, error, sessionId))
    try {
      Promise.resolve(run()).then(answer, fail)
    } catch (error) {
      fail(error)
    }
  }
}

/** How long the calls to a session store may take. */
export interface SessionTimes {
  /** The deadline of every call, in milliseconds. */
  readonly sessionStoreDeadlineMs: number
  /** The deadline of reads, and of calls during a login, while sessmgr's own store is down, in milliseconds. */
  readonly deadlineMs: number
  /** Reports whether sessmgr's own store is down. */
  readonly health: StoreHealth
}

const WHAT = 'session store'

/**
 * Sets a separate deadline for each call to the application's session store.
 *
 * A slow call does not make others fail, because a store that waits for a lock is not broken. The exceptions are reads,
 * and calls of logins in progress, while sessmgr's own store is down as well. Without that store, no session can be
 * checked and no login admitted anyway.
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

  /** Starts a call. If the call is refused, fails it and returns false. */
  begin(call: PendingCall): boolean {
    if (call.mayFailEarly && this.#isStuck && !this.#mayProbe()) {
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
      if (!call.mayFailEarly) continue
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

  /** Checks whether a call may go through: one every 500 ms while neither store responds. */
  #mayProbe(): boolean {
    const now = performance.now()
    if (this.#times.health.isAway && now < this.#nextProbe) return false
    this.#nextProbe = now + PROBE_MS
    return true
  }
}

/**
 * Finds out whether sessmgr's own store is down. Asks it only while the session store is slow: if both are down,
 * requests need not wait for sessions that cannot be checked anyway.
 */
export class StoreHealth {
  /** Whether the store failed when it was last asked, or has not responded in time. */
  isAway = false
  readonly #ask: () => PromiseLike<unknown>
  readonly #deadlineMs: number
  #nextAsk = 0
  #isAsking = false

  /**
   * @param deadlineMs How long requests wait while both stores hang. The sessmgr store is asked after a quarter of this
   * time.
   */
  constructor(ask: () => PromiseLike<unknown>, deadlineMs: number) {
    this.#ask = ask
    this.#deadlineMs = deadlineMs
  }

  /** Asks the store, at most every 500 ms. While the store is down, keeps asking. */
  suspect(): void {
    const now = performance.now()
    if (this.#isAsking || now < this.#nextAsk) return
    this.#nextAsk = now + PROBE_MS
    this.#isAsking = true
    void this.#askNow()
  }

  async #askNow(): Promise<void> {
    let isAnswered = false
    // Check one turn later: if this process was blocked, a response that has already arrived is read first.
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
