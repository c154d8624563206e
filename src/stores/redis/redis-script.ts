import { createHash } from 'node:crypto'
import { rewordError } from '../../ground/errors.ts'
import type { RedisClient } from './redis-client.ts'

/** A Lua script and its digest. */
export interface RedisScript {
  readonly text: string
  readonly sha1: string
}

/** Joins parts into one script. */
export function redisScript(...parts: readonly string[]): RedisScript {
  const text = parts.join('\n')
  return { text, sha1: createHash('sha1').update(text).digest('hex') }
}

/** Runs a script on keys of one slot by its digest. Sends the source only if the server does not have it. */
export async function runScript(
  client: RedisClient,
  { text, sha1 }: RedisScript,
  key: string | readonly string[],
  args: readonly (string | number)[] = [],
): Promise<unknown> {
  const options = { keys: [key].flat(), arguments: args.map(String) }
  try {
    return await client.evalSha(sha1, options)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return client.eval(text, options)
  }
}

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
