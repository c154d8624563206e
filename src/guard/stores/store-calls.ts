import { CallDeadline, PendingCall } from '../../ground/call-deadline.ts'
import type { HostSessionData, HostStore } from '../host-types.ts'
import { isMissing, withoutId } from './session-call.ts'

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

/** Passes the result of a promise to a callback. Calls it outside the promise, so that its errors reach the caller. */
export function answerCallback<T>(
  outcome: Promise<T>,
  callback?: (error?: unknown, value?: T) => void,
): Promise<T> | undefined {
  if (!callback) {
    // Callers who await the promise see its failure. If nobody does, the failure must not crash the process.
    outcome.catch(() => {})
    return outcome
  }
  outcome.then(
    (value) => process.nextTick(callback, null, value),
    (error) => process.nextTick(callback, error),
  )
  return undefined
}

/** The methods of a session store, each with a deadline. They all fail with `store_unavailable`. */
export interface StoreCalls {
  /** Reads a session. `from` is the same store, reading on another connection. */
  read(sessionId: string, call: StoreCall<HostSessionData | undefined>, from?: object): void
  get(sessionId: string): Promise<HostSessionData | undefined>
  set(sessionId: string, data: HostSessionData): Promise<void>
  destroy(sessionId: string): Promise<void>
  /** Records the use of a session. Undefined if the store has no such method. */
  touch?: ((sessionId: string, data: HostSessionData, call: StoreCall) => void) | undefined
}

type Callback<T> = (error?: unknown, value?: T) => void
/** A method of a store, with a callback as the last parameter. */
type Method = (sessionId: string, ...further: unknown[]) => unknown

/** Saves a store's own methods before the guard replaces them. */
export function storeCalls(store: HostStore, deadlineMs: number): StoreCalls {
  const { get, set, destroy, touch } = store as unknown as { get: Method; set: Method; destroy: Method; touch?: Method }
  const createDeadline = () => new CallDeadline(deadlineMs, 'session store')
  const ownDeadline = createDeadline()
  // Each connection has its own deadline, so that a hanging connection does not affect the others.
  let other = { target: store as object, deadline: ownDeadline }

  function deadlineOf(target: object): CallDeadline {
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
  ): void {
    const deadline = target === store ? ownDeadline : deadlineOf(target)
    if (!deadline.begin(call)) return
    try {
      const callback: Callback<T | null> = (error, value) => {
        if (error && !(mayBeMissing && isMissing(error))) deadline.failed(call, withoutId(error, sessionId))
        else if (deadline.answered(call)) call.answer(error ? undefined : (value ?? undefined))
      }
      if (data) method.call(target, sessionId, data, callback)
      else method.call(target, sessionId, callback)
    } catch (error) {
      deadline.failed(call, withoutId(error, sessionId))
    }
  }

  const read: StoreCalls['read'] = (sessionId, call, from = store) => start(call, true, from, get, sessionId)
  return {
    read,
    get: (sessionId) => promised((call) => read(sessionId, call)),
    set: (sessionId, data) => promised((call) => start(call, false, store, set, sessionId, data)),
    destroy: (sessionId) => promised((call) => start(call, true, store, destroy, sessionId)),
    touch: touch && ((sessionId, data, call) => start(call, true, store, touch, sessionId, data)),
  }
}
