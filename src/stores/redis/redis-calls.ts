import { createHash } from 'node:crypto'
import { CallDeadline } from '../../ground/call-deadline.ts'
import { rewordError } from '../../ground/errors.ts'
import type { RedisClient } from './redis-client.ts'

/** How errors call the server. */
export const THE_SERVER = 'sessmgr Redis server'

/** A Lua script and its digest. */
export interface RedisScript {
  readonly text: string
  readonly sha1: string
}

/** Creates a script from its parts. */
export function redisScript(...parts: readonly string[]): RedisScript {
  const text = parts.join('\n')
  return { text, sha1: createHash('sha1').update(text).digest('hex') }
}

/** Runs a script by its digest, on keys in one cluster slot. Sends the source only if the server does not have it. */
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
    if (!(error instanceof Error) || !/noscript/i.test(error.message)) throw error
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

/** Adds advice to "The client is closed", which a client that was never connected reports as well. */
function withAdvice(text: string): string {
  if (text !== 'The client is closed') return text
  return 'The client is closed. Call "await client.connect()" when your application starts, before the first request'
}

type Arguments = readonly (string | number)[]

/** Runs calls to a Redis client with a deadline. A call that fails rejects with `store_unavailable`. */
export class RedisCalls {
  readonly #client: RedisClient
  readonly #deadline: CallDeadline

  constructor(client: RedisClient, deadlineMs: number) {
    this.#client = client
    this.#deadline = new CallDeadline(deadlineMs, THE_SERVER, { tidy: withoutArguments })
  }

  /** Calls the client, with the deadline. */
  ask<T>(question: (client: RedisClient) => PromiseLike<T>): Promise<T> {
    return this.#deadline.run(() => question(this.#client))
  }

  /**
   * Asks Redis on behalf of a caller with a fallback. Resolves to undefined if Redis refuses, such as for lack of
   * permission.
   */
  async tryAsk<T>(question: (client: RedisClient) => PromiseLike<T> | undefined): Promise<T | undefined> {
    try {
      return await this.ask(async (client) => question(client))
    } catch (error) {
      if ((error as Error).cause === undefined) throw error
      return undefined
    }
  }

  /** Runs a script on a key, or on keys in one cluster slot. */
  run(script: RedisScript, key: string | readonly string[], args?: Arguments): Promise<unknown> {
    return this.ask((client) => runScript(client, script, key, args))
  }
}

/** Checks whether a client can provide the single connection on which a write and WAIT for a replica must run. */
export function canReplicate(client: RedisClient): boolean {
  return [client.execute, client.use, client.getNodeClientForKey, client.wait].some((way) => typeof way === 'function')
}

/** Runs a task on one connection to the primary that holds a key, whatever the kind of client. */
export async function onOneConnection<T>(
  client: RedisClient,
  key: string,
  task: (connection: RedisClient) => Promise<T>,
): Promise<T> {
  if (client.execute) return (await client.execute(task)) as T
  if (client.use) return (await client.use(task)) as T
  if (client.getNodeClientForKey) return task((await client.getNodeClientForKey(key, false)) as RedisClient)
  return task(client)
}
