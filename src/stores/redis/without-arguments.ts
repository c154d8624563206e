/**
 * Gives what Redis says of a command that it does not know without the arguments that it repeats: session ids, and what
 * else is kept there.
 */
export function withoutArguments(error: unknown): unknown {
  const { message } = error as { message?: unknown }
  if (typeof message !== 'string' || !message.includes(REPEATED)) return error
  return new Error(message.slice(0, message.indexOf(REPEATED)))
}

const REPEATED = ', with args beginning with:'
