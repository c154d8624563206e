import { rewordError } from '../../reword-error.ts'

/**
 * Gives what Redis or its client says of a command without the arguments: session ids, and what else is kept there. Redis
 * repeats them where it does not know the command, ioredis attaches them to every error.
 */
export function withoutArguments(error: unknown): Error {
  return rewordError(error, (text) => text.split(', with args beginning with:')[0] as string)
}
