import { hideSessionId } from '../../ground/hide-session-id.ts'
import { rewordError } from '../../ground/reword-error.ts'

/** Gives what a store says without the raw session id: a file store, for one, tells the path of the file. */
export function withoutId(error: unknown, sessionId: string): Error {
  return rewordError(error, (text) => hideSessionId(text, sessionId))
}
