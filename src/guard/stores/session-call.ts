import { CallDeadline } from '../../ground/call-deadline.ts'
import { hideSessionId, rewordError } from '../../ground/error-text.ts'

/** Creates what calls one session store, with a deadline. What a call rejects with names no raw session id. */
export function sessionCall(deadlineMs: number) {
  const deadline = new CallDeadline(deadlineMs, 'session store')
  return <T>(sessionId: string, run: () => T | PromiseLike<T>): Promise<T> =>
    deadline.run(async () => {
      try {
        return await run()
      } catch (error) {
        throw withoutId(error, sessionId)
      }
    })
}

/** Gives what a store says without the raw session id: a file store, for one, tells the path of the file. */
export function withoutId(error: unknown, sessionId: string): Error {
  return rewordError(error, (text) => hideSessionId(text, sessionId))
}

/** Tells whether a store says that a session is missing, as stores in the file tradition do. */
export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 'ENOENT'
}
