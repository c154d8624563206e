import { CallDeadline } from '../../ground/call-deadline.ts'
import { withoutId } from './without-id.ts'

/** Calls a session store about one session, with a deadline. What it rejects with names no raw session id. */
export type SessionCall = <T>(sessionId: string, run: () => T | PromiseLike<T>) => Promise<T>

/** Makes the calls of one store, which share their deadline. */
export function sessionCall(deadlineMs: number): SessionCall {
  const deadline = new CallDeadline(deadlineMs, 'session store')
  return (sessionId, run) =>
    deadline.run(async () => {
      try {
        return await run()
      } catch (error) {
        throw withoutId(error, sessionId)
      }
    })
}
