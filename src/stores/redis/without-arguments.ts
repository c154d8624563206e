import { rewordError } from '../../ground/error-text.ts'

/**
 * Gives what Redis or its client says of a command without the arguments: session ids, and what else is kept there. Redis
 * repeats them where it does not know the command, ioredis attaches them to every error.
 */
export function withoutArguments(error: unknown): Error {
  return rewordError(error, (text) => withAdvice(text.split(', with args beginning with:')[0] as string))
}

/** A client that was never connected says what one says that was closed. */
function withAdvice(text: string): string {
  if (text !== 'The client is closed') return text
  return 'The client is closed. Call "await client.connect()" when the application starts, before the first request'
}
