import { createHash } from 'node:crypto'
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
