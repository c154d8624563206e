import { CallDeadline } from '../call-deadline.ts'
import type { HostSessionData, HostStore } from './host-types.ts'

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

  return {
    get: (sessionId) =>
      deadline.run(
        () =>
          new Promise((resolve, reject) => {
            get.call(store, sessionId, (error, data) => {
              // Stores in the file tradition report a missing session this way.
              if (error && (error as { code?: unknown }).code !== 'ENOENT') reject(withoutId(error, sessionId))
              else resolve(error ? undefined : (data ?? undefined))
            })
          }),
      ),
    set: (sessionId, data) => settled(sessionId, (callback) => set.call(store, sessionId, data, callback)),
    destroy: (sessionId) => settled(sessionId, (callback) => destroy.call(store, sessionId, callback)),
    touch: (sessionId, data) =>
      touch ? settled(sessionId, (callback) => touch.call(store, sessionId, data, callback)) : Promise.resolve(),
  }
}

/** An error of the store without the raw session id: a file store, for one, tells the path of the file. */
export function withoutId(error: unknown, sessionId: string): Error {
  const { message, code } = error as { message?: unknown; code?: unknown }
  const text = String(message ?? error).replaceAll(sessionId || '\0', '<session id>')
  return Object.assign(new Error(text), code === undefined ? {} : { code })
}
