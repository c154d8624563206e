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
  const settled = (
    sessionId: string,
    mayBeMissing: boolean,
    start: (callback: (error?: unknown) => void) => unknown,
  ): Promise<void> =>
    deadline.run(
      () =>
        new Promise((resolve, reject) => {
          start((error) => {
            if (!error || (mayBeMissing && isMissing(error))) resolve()
            else reject(withoutId(error, sessionId))
          })
        }),
    )

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
    set: (sessionId, data) => settled(sessionId, false, (callback) => set.call(store, sessionId, data, callback)),
    destroy: (sessionId) => settled(sessionId, true, (callback) => destroy.call(store, sessionId, callback)),
    async touch(sessionId, data) {
      if (touch) await settled(sessionId, true, (callback) => touch.call(store, sessionId, data, callback))
    },
  }
}
