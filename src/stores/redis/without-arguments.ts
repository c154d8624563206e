import { rewordError } from '../../ground/error-text.ts'

/**
 * Removes the arguments from a Redis error: session ids and other stored data. Redis repeats them for an unknown
 * command, and ioredis attaches them to every error.
 */
export function withoutArguments(error: unknown): Error {
  return rewordError(error, (text) => withAdvice(text.split(', with args beginning with:')[0] as string))
}

/** Adds advice: a client that was never connected reports the same as a closed one. */
function withAdvice(text: string): string {
  if (text !== 'The client is closed') return text
  return 'The client is closed. Call "await client.connect()" when the application starts, before the first request'
}
