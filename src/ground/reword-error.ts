import { messageOf } from './message-of.ts'

/**
 * An error with the code and, worded anew, the sentence of another. Nothing else is taken over: clients attach what they
 * were called with.
 */
export function rewordError(error: unknown, reword: (text: string) => string): Error {
  const { code } = (error ?? {}) as { code?: unknown }
  return Object.assign(new Error(reword(messageOf(error))), code === undefined ? {} : { code })
}
