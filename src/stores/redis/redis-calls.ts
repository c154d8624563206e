import { createHash } from 'node:crypto'
import { CallDeadline } from '../../ground/call-deadline.ts'
import { rewordError, SessmgrError } from '../../ground/errors.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { RedisClient } from './redis-client.ts'

/** The keys of a store. */
export interface Keys {
  /** Returns the key of a user's sessions, with the user id as its hash tag. */
  sessions(userId: UserId): string
  /** Returns the key of a user's application passwords. */
  passwords(userId: UserId): string
  /** Returns the key of a transient string. */
  transient(key: string): string
  /** Returns the key of the generation of a group of transients. */
  generation(group: string): string
  readonly epoch: string
  readonly options: string
  /** Keys of the index of people, all in one cluster slot. */
  readonly people: { readonly recent: string; readonly most: string; readonly sum: string }
}

/** Creates keys that start with a prefix. */
export function createKeys(prefix: string): Keys {
  return {
    // Encoded, because a brace in a user id would end the hash tag too early.
    sessions: (userId) => `${prefix}{${encodeURIComponent(userId)}}:s`,
    passwords: (userId) => `${prefix}{${encodeURIComponent(userId)}}:p`,
    transient: (key) => `${prefix}transient:${key}`,
    generation: (group) => `${prefix}generation:${group}`,
    epoch: `${prefix}epoch`,
    options: `${prefix}options`,
    people: { recent: `${prefix}{people}:recent`, most: `${prefix}{people}:most`, sum: `${prefix}{people}:sum` },
  }
}

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
  readonly #replicaMs: number | undefined

  /** @param isReplicated Whether durable changes wait for a replica. */
  constructor(client: RedisClient, deadlineMs: number, isReplicated: boolean) {
    this.#client = client
    this.#deadline = new CallDeadline(deadlineMs, 'sessmgr Redis server', { tidy: withoutArguments })
    this.#replicaMs = isReplicated ? Math.ceil(deadlineMs / 2) : undefined
  }

  /** Whether durable changes wait for a replica. */
  get isReplicated(): boolean {
    return this.#replicaMs !== undefined
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

  /**
   * Runs a script, and with `durability: 'replica'` waits until a replica has its change.
   *
   * @param onReply Called with the script's reply, even if no replica confirms the change.
   */
  runDurably(script: RedisScript, key: string, args?: Arguments, onReply?: (reply: unknown) => void): Promise<unknown> {
    const write = async (client: RedisClient) => {
      const reply = await runScript(client, script, key, args)
      onReply?.(reply)
      return reply
    }
    const waitMs = this.#replicaMs
    return this.ask((client) => (waitMs === undefined ? write(client) : replicated(client, key, waitMs, write)))
  }
}

/**
 * Runs a write and waits until a replica has it.
 *
 * WAIT covers only writes on its own connection, so the write and WAIT use the same one, whatever the kind of client.
 *
 * @throws SessmgrError `store_unavailable` if no replica confirms in time; the primary may still have the write.
 */
async function replicated<T>(
  client: RedisClient,
  key: string,
  timeoutMs: number,
  write: (connection: RedisClient) => Promise<T>,
): Promise<T> {
  return (await onOneConnection(client, key, async (connection) => {
    if (!connection.wait) throw new SessmgrError('invalid_option', 'This Redis client cannot WAIT for a replica.')
    const result = await write(connection)
    const confirmed = Number(await connection.wait(1, timeoutMs))
    if (confirmed >= 1) return result
    throw new SessmgrError('store_unavailable', 'No Redis replica has confirmed the change. Try again shortly.')
  })) as T
}

/** Checks whether a client can provide the single connection that {@link replicated} needs. */
export function canReplicate(client: RedisClient): boolean {
  return [client.execute, client.use, client.getNodeClientForKey, client.wait].some((way) => typeof way === 'function')
}

async function onOneConnection(
  client: RedisClient,
  key: string,
  task: (connection: RedisClient) => Promise<unknown>,
): Promise<unknown> {
  if (client.execute) return client.execute(task)
  if (client.use) return client.use(task)
  if (client.getNodeClientForKey) return task((await client.getNodeClientForKey(key, false)) as RedisClient)
  return task(client)
}
