import { CallDeadline, PendingCall } from '../../ground/call-deadline.ts'
import type { HostSessionData, HostStore } from '../host-types.ts'
import { MARKER_KEY, storable } from '../marker-place.ts'
import { SessionDeadline, type SessionTimes } from './session-deadline.ts'

/**
 * A call to a session store. Its methods must not throw, because a store may mistake an exception for its own failure.
 */
export abstract class StoreCall<T = void> extends PendingCall {
  /** Called once with the result. */
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

/** Converts a call to a promise. */
export function promised<T>(start: (call: StoreCall<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => start(new PromisedCall(resolve, reject)))
}

/** A call whose result a callback receives after the store's method has returned, so that its errors reach the caller. */
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

/** Passes the result of a call to a callback, at once if the store responds before its method returns. */
export function calledBack(start: (call: StoreCall) => void, done: (error: unknown) => void): void {
  const call = new CallbackCall(done)
  start(call)
  call.started()
}

/**
 * Passes the result of a promise to a callback. Calls it outside the promise, so that its errors reach the caller.
 *
 * @param fail Deals with a failure and calls the callback, which otherwise receives the error.
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
  /** Reads a session. `from` is the same store, reading on another connection. */
  read(sessionId: string, call: StoreCall<HostSessionData | undefined>, from?: object): void
  get(sessionId: string, request?: object): Promise<HostSessionData | undefined>
  set(sessionId: string, data: HostSessionData, request?: object): Promise<void>
  /** Writes a session as `set` does, without a promise. Undefined if the store's methods return promises. */
  write?: ((sessionId: string, data: HostSessionData, call: StoreCall) => void) | undefined
  destroy(sessionId: string, request?: object): Promise<void>
  /** Records the use of a session. Undefined if the store has no such method. */
  touch?: ((sessionId: string, data: HostSessionData, call: StoreCall) => void) | undefined
  /** Called if a write succeeds after its deadline, with the marker that it wrote. Set by the guard. */
  wroteLate?: ((sessionId: string, data: HostSessionData) => void) | undefined
}

/** Returns what a late write has written of a session's marker. The session itself may change in the meantime. */
export function markerOnly({ [MARKER_KEY]: marker }: HostSessionData): HostSessionData {
  return marker === undefined ? {} : { [MARKER_KEY]: marker }
}

/** Checks for the error of a missing session, as file stores report it. */
export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 'ENOENT'
}

type Callback<T> = (error?: unknown, value?: T) => void
/** A method of a store, with a callback as the last parameter. */
type Method = (sessionId: string, ...further: unknown[]) => unknown

/** Saves a store's own methods before the guard replaces them. */
export function storeCalls(store: HostStore, times: SessionTimes): StoreCalls {
  const { get, set, destroy, touch } = store as unknown as { get: Method; set: Method; destroy: Method; touch?: Method }
  const ownDeadline = new SessionDeadline(times)
  // The other connection is sessmgr's own, so it has the deadline of sessmgr's store. Each connection has its own
  // deadline, so that a hanging connection does not affect the others.
  const createDeadline = () => new CallDeadline(times.deadlineMs, 'session store')
  let other = { target: store as object, deadline: createDeadline() }

  function deadlineOf(target: object): SessionDeadline | CallDeadline {
    if (target === store) return ownDeadline
    if (target !== other.target) other = { target, deadline: createDeadline() }
    return other.deadline
  }

  function start<T>(
    call: StoreCall<T | undefined>,
    mayBeMissing: boolean,
    target: object,
    method: Method,
    sessionId: string,
    data?: HostSessionData,
    late?: () => void,
  ): void {
    const deadline = deadlineOf(target)
    if (!deadline.begin(call)) return
    let isAnswered = false
    try {
      const callback: Callback<T | null> = (error, value) => {
        // Some stores call back twice. The second time is not late.
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
      call.isRead = true
      start(call, true, from, get, sessionId)
    },
    get: (sessionId) => promised((call) => calls.read(sessionId, call)),
    set: (sessionId, data) => promised((call) => calls.write?.(sessionId, data, call)),
    write(sessionId, data, call) {
      const stored = storable(data)
      const written = markerOnly(stored)
      const late = () => calls.wroteLate?.(sessionId, written)
      start(call, false, store, set, sessionId, stored, late)
    },
    destroy: (sessionId) => promised((call) => start(call, true, store, destroy, sessionId)),
    touch: touch && ((sessionId, data, call) => start(call, true, store, touch, sessionId, storable(data))),
  }
  return calls
}
