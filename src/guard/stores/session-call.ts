import { CallDeadline } from '../../ground/call-deadline.ts'
import { hideSessionId, rewordError } from '../../ground/error-text.ts'

/** Returns a function that calls a session store with a deadline. Errors contain no raw session id. */
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

/** Returns a store's error without the raw session id, which for example file stores report as part of a path. */
export function withoutId(error: unknown, sessionId: string): Error {
  return rewordError(error, (text) => hideSessionId(text, sessionId))
}

/** Checks for the error of a missing session, as file stores report it. */
export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 'ENOENT'
}
