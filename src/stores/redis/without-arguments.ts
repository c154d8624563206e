import { rewordError } from '../../ground/error-text.ts'

/**
 * Removes session ids and other arguments from a Redis error. Redis repeats the arguments of an unknown command, and
 * ioredis attaches them to every error.
 */
export function withoutArguments(error: unknown): Error {
  return rewordError(error, (text) => withAdvice(text.split(', with args beginning with:')[0] as string))
}

/** Adds advice: a client that was never connected reports the same error as a closed one. */
function withAdvice(text: string): string {
  if (text !== 'The client is closed') return text
  return 'The client is closed. Call "await client.connect()" when your application starts, before the first request'
}
