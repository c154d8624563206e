import { CallDeadline } from '../../ground/call-deadline.ts'
import { withoutId } from './without-id.ts'

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
