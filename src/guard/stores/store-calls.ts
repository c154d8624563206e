import { CallDeadline, PendingCall } from '../../ground/call-deadline.ts'
import type { HostSessionData, HostStore } from '../host-types.ts'
import { isMissing, withoutId } from './session-call.ts'

/** A call to a session store. What it is told, it must not throw at: a store may take that for a failure of its own. */
export abstract class StoreCall<T = void> extends PendingCall {
  /** Is told, once, what the store has answered. */
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

/** Makes a promise of a call. */
export function promised<T>(start: (call: StoreCall<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => start(new PromisedCall(resolve, reject)))
}

/** Hands a promise's outcome to a callback, outside the promise: what the callback throws is its caller's affair. */
export function answerCallback<T>(
  outcome: Promise<T>,
  callback?: (error?: unknown, value?: T) => void,
): Promise<T> | undefined {
  if (!callback) {
    // Whoever takes the promise learns of a failure; whoever does not must not end the process by it.
    outcome.catch(() => {})
    return outcome
  }
  outcome.then(
    (value) => process.nextTick(callback, null, value),
    (error) => process.nextTick(callback, error),
  )
  return undefined
}

/** The methods of a session store, each with a deadline. All fail with `store_unavailable`. */
export interface StoreCalls {
  /** Reads a session. `from`: the same store, where it is to read by other means. */
  read(sessionId: string, call: StoreCall<HostSessionData | undefined>, from?: object): void
  get(sessionId: string): Promise<HostSessionData | undefined>
  set(sessionId: string, data: HostSessionData): Promise<void>
  destroy(sessionId: string): Promise<void>
  /** Tells the store that a session is in use; not there where a store knows no way to be told. */
  touch?: ((sessionId: string, data: HostSessionData, call: StoreCall) => void) | undefined
}

type Callback<T> = (error?: unknown, value?: T) => void
/** A method of a store, whose last parameter is its callback. */
type Method = (sessionId: string, ...further: unknown[]) => unknown

/** Takes a store's own methods, before anything is put in front of them. */
export function storeCalls(store: HostStore, deadlineMs: number): StoreCalls {
  const { get, set, destroy, touch } = store as unknown as { get: Method; set: Method; destroy: Method; touch?: Method }
  const createDeadline = () => new CallDeadline(deadlineMs, 'session store')
  const ownDeadline = createDeadline()
  // Each connection hangs for itself: no call waits or fails because another connection does not answer.
  let other = { target: store as object, deadline: ownDeadline }

  function deadlineOf(target: object): CallDeadline {
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
  ): void {
    const deadline = deadlineOf(target)
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
