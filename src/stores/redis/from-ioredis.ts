import { invalidOption } from '../../ground/invalid-option.ts'
import type { RedisClient } from './redis-client.ts'
import { type IoredisSubscriber, ioredisSubscriber } from './signals/ioredis-subscriber.ts'

/** The commands of an ioredis client or cluster that the store uses. */
export interface IoredisClient {
  /** Runs a script by its SHA-1. Fails with `NOSCRIPT` if the server does not have it. */
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  /** Runs a script by its source. */
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  /** Reads a string. */
  get(key: string): Promise<unknown>
  /** Reads a field of a hash. */
  hget(key: string, field: string): Promise<unknown>
  /** Whether this is a cluster. */
  readonly isCluster?: boolean
  /** Waits until this many replicas have received what this connection wrote. */
  wait(replicas: number, timeoutMs: number): Promise<unknown>
  /** Lists keys that match a pattern, in batches. */
  scan(cursor: string, match: 'MATCH', pattern: string, count: 'COUNT', size: number): Promise<[string, string[]]>
  /** Deletes a key. */
  del(key: string): Promise<unknown>
  /** Sends a message to all subscribers. */
  publish?(channel: string, message: string): Promise<unknown>
  /** Creates a client like this one. */
  duplicate?(): unknown
}

/**
 * Wraps an ioredis client for the store.
 *
 * @throws SessmgrError `invalid_option` for anything else.
 * @example
 * sessmgr({ store: redisStore({ client: fromIoredis(new Redis()) }) })
 */
export function fromIoredis(redis: IoredisClient): RedisClient {
  for (const method of ['evalsha', 'eval', 'get', 'hget', 'del'] as const) {
    if (typeof redis?.[method] === 'function') continue
    throw invalidOption(`fromIoredis() needs a client or cluster from the ioredis package: it has no ${method}()`)
  }
  return {
    evalSha: (sha1, { keys, arguments: args }) => redis.evalsha(sha1, keys.length, ...keys, ...args),
    eval: (script, { keys, arguments: args }) => redis.eval(script, keys.length, ...keys, ...args),
    get: (key) => redis.get(key),
    hGet: (key, field) => redis.hget(key, field),
    del: (key) => redis.del(key),
    publish: async (channel, message) => redis.publish?.(channel, message),
    ...(redis.duplicate && { duplicate: () => ioredisSubscriber(redis.duplicate?.() as IoredisSubscriber) }),
    ...(redis.isCluster ? {} : nodeCommands(redis)),
  }
}

/** Returns the commands that have no key. Leaves them out for clusters, which would send them to an arbitrary node. */
function nodeCommands(redis: IoredisClient): Pick<RedisClient, 'scan' | 'wait'> {
  return {
    scan: async (position, { MATCH, COUNT }) => {
      const [cursor, keys] = await redis.scan(position, 'MATCH', MATCH, 'COUNT', COUNT)
      return { cursor, keys }
    },
    wait: (replicas, timeoutMs) => redis.wait(replicas, timeoutMs),
  }
}
