import type { SessionDeadline } from './session-deadline.ts'
import { promised } from './store-calls.ts'

interface CallOptions {
  /** Whether the call only reads. @default false */
  readonly isRead?: boolean
  /** Called if the call succeeds after its deadline. */
  readonly late?: () => void
}

/** Returns a function that calls a session store whose methods return promises. */
export function sessionCall(deadline: SessionDeadline) {
  return <T>(sessionId: string, run: () => T | PromiseLike<T>, { isRead = false, late }: CallOptions = {}) =>
    promised<T>(async (call) => {
      call.isRead = isRead
      if (!deadline.begin(call)) return
      try {
        const value = await run()
        if (deadline.answered(call)) call.answer(value)
        else late?.()
      } catch (error) {
        deadline.failed(call, error, sessionId)
      }
    })
}
