import { CallDeadline } from '../../ground/call-deadline.ts'
import type { HostSessionData, HostStore } from '../host-types.ts'
import { type SessionPort, StoreCall, StoreHealth } from '../port.ts'
import { asStoreError } from './store-error.ts'

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

/** Checks whether an error only means that the session does not exist, as with file stores. */
export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 'ENOENT'
}

/** Returns what a store has thrown, or an error if that is nothing, so that a failure is never taken for a success. */
function errorFrom(thrown: unknown): unknown {
  return thrown || new Error('The session store has failed without an error.')
}

type Callback<T> = (error?: unknown, value?: T) => void
/** A method of a store, with a callback as the last parameter. */
type Method = (sessionId: string, ...further: unknown[]) => unknown

/**
 * Returns a function that finds the deadline of another connection to the store. Each connection is timed separately,
 * so that a hanging connection does not affect others.
 */
function otherDeadlines(deadlineMs: number): (target: object) => CallDeadline {
  let last: { readonly target: object; readonly deadline: CallDeadline } | undefined
  return (target) => {
    if (last?.target !== target) last = { target, deadline: new CallDeadline(deadlineMs, 'session store') }
    return last.deadline
  }
}

/**
 * Returns the calls to a store's own methods. Call it before the guard replaces these methods.
 *
 * @param deadlineMs The deadline of reads on sessmgr's own connection.
 */
export function storeCalls(store: HostStore, deadlineMs: number): SessionPort {
  const { get, set, destroy, touch } = store as unknown as { get: Method; set: Method; destroy: Method; touch?: Method }
  const health = new StoreHealth()
  const deadlineOf = otherDeadlines(deadlineMs)

  function start<T>(
    call: StoreCall<T | undefined>,
    mayBeMissing: boolean,
    method: Method,
    sessionId: string,
    data?: HostSessionData,
  ): void {
    let isAnswered = false
    const callback: Callback<T | null> = (given, value) => {
      // Some stores call back twice.
      if (isAnswered) return
      isAnswered = true
      const error = mayBeMissing && isMissing(given) ? undefined : given
      health.answered(Boolean(error))
      if (error) call.fail(asStoreError(error))
      else call.answer(given ? undefined : value || undefined)
    }
    health.begun()
    try {
      if (data) method.call(store, sessionId, data, callback)
      else method.call(store, sessionId, callback)
    } catch (error) {
      callback(errorFrom(error))
    }
  }

  function readFrom(target: object, sessionId: string, call: StoreCall<HostSessionData | undefined>): void {
    const deadline = deadlineOf(target)
    if (!deadline.begin(call)) return
    try {
      const callback: Callback<HostSessionData | null> = (error, value) => {
        if (error) deadline.failed(call, error)
        else if (deadline.answered(call)) call.answer(value || undefined)
      }
      get.call(target, sessionId, callback)
    } catch (error) {
      deadline.failed(call, error)
    }
  }

  const calls: SessionPort = {
    health,
    read: (sessionId, call, from) => (from ? readFrom(from, sessionId, call) : start(call, true, get, sessionId)),
    get: (sessionId) => promised((call) => start(call, true, get, sessionId)),
    set: (sessionId, data) => promised((call) => calls.write?.(sessionId, data, call)),
    write: (sessionId, data, call) => start(call, false, set, sessionId, data),
    destroy: (sessionId) => promised((call) => start(call, true, destroy, sessionId)),
    touch: touch && ((sessionId, data, call) => start(call, true, touch, sessionId, data)),
  }
  return calls
}

/** Returns a function that calls a session store whose methods return promises. */
export function sessionCall(health: StoreHealth) {
  return async <T>(run: () => T | PromiseLike<T>): Promise<T> => {
    let hasFailed = true
    health.begun()
    try {
      const value = await run()
      hasFailed = false
      return value
    } catch (error) {
      hasFailed = !isMissing(error)
      throw asStoreError(errorFrom(error))
    } finally {
      health.answered(hasFailed)
    }
  }
}

/** Like {@link sessionCall}, for reads, which may also be on another connection. */
export function sessionReads(deadlineMs: number, health: StoreHealth) {
  const deadlineOf = otherDeadlines(deadlineMs)
  return (call: StoreCall<HostSessionData | undefined>, run: () => unknown, from?: object): void => {
    const deadline = from && deadlineOf(from)
    if (deadline && !deadline.begin(call)) return
    if (!deadline) health.begun()
    const answer = (data: unknown) => {
      if (!deadline) health.answered(false)
      if (!deadline || deadline.answered(call)) call.answer((data || undefined) as HostSessionData | undefined)
    }
    const fail = (given: unknown) => {
      const error = errorFrom(given)
      if (isMissing(error)) return answer(undefined)
      if (deadline) return deadline.failed(call, error)
      health.answered(true)
      call.fail(asStoreError(error))
    }
    try {
      Promise.resolve(run()).then(answer, fail)
    } catch (error) {
      fail(error)
    }
  }
}
