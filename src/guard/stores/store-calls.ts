import { CallDeadline } from '../../ground/call-deadline.ts'
import type { HostSessionData, HostStore } from '../host-types.ts'
import { isMissing, withoutId } from './session-call.ts'

/** The methods of a session store as promises, each with a deadline. All reject with `store_unavailable`. */
export interface StoreCalls {
  get(sessionId: string): Promise<HostSessionData | undefined>
  set(sessionId: string, data: HostSessionData): Promise<void>
  destroy(sessionId: string): Promise<void>
  touch(sessionId: string, data: HostSessionData): Promise<void>
}

/** Takes a store's own methods, before anything is put in front of them. */
export function storeCalls(store: HostStore, deadlineMs: number): StoreCalls {
  const { get, set, destroy, touch } = store
  const deadline = new CallDeadline(deadlineMs, 'session store')
  const settled = (sessionId: string, start: (callback: (error?: unknown) => void) => unknown) =>
    deadline.run(
      () =>
        new Promise<void>((resolve, reject) => {
          start((error) => (error ? reject(withoutId(error, sessionId)) : resolve()))
        }),
    )
  const ifThere = (sessionId: string, start: (callback: (error?: unknown) => void) => unknown) =>
    settled(sessionId, (callback) => start((error) => callback(isMissing(error) ? undefined : error)))

  return {
    get: (sessionId) =>
      deadline.run(
        () =>
          new Promise((resolve, reject) => {
            get.call(store, sessionId, (error, data) => {
              if (error && !isMissing(error)) reject(withoutId(error, sessionId))
              else resolve(error ? undefined : (data ?? undefined))
            })
          }),
      ),
    set: (sessionId, data) => settled(sessionId, (callback) => set.call(store, sessionId, data, callback)),
    destroy: (sessionId) => ifThere(sessionId, (callback) => destroy.call(store, sessionId, callback)),
    touch: (sessionId, data) =>
      touch ? ifThere(sessionId, (callback) => touch.call(store, sessionId, data, callback)) : Promise.resolve(),
  }
}
