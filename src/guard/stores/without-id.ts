import { hideSessionId, rewordError } from '../../ground/error-text.ts'

/** Gives what a store says without the raw session id: a file store, for one, tells the path of the file. */
export function withoutId(error: unknown, sessionId: string): Error {
  return rewordError(error, (text) => hideSessionId(text, sessionId))
}
