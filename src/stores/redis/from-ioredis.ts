import { invalidOption } from '../../ground/invalid-option.ts'
import type { RedisClient, RedisSubscriber } from './redis-client.ts'

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

/** The methods of an ioredis client that is used only for subscriptions. */
interface IoredisSubscriber {
  /** Subscribes to channels. */
  subscribe(...channels: string[]): Promise<unknown>
  /** Ends subscriptions. */
  unsubscribe(...channels: string[]): Promise<unknown>
  /** Adds a listener. */
  on(event: string, listener: (...parameters: never[]) => void): unknown
  /** Removes a listener. */
  off(event: string, listener: (...parameters: never[]) => void): unknown
  /** Closes the connection. */
  disconnect(): void
}

/** Wraps an ioredis client that is used only for subscriptions. */
function ioredisSubscriber(redis: IoredisSubscriber): RedisSubscriber {
  const hearing = new Map<unknown, (from: string, message: string) => void>()
  return {
    on: (event, listener) => redis.on(event, listener),
    off: (event, listener) => redis.off(event, listener),
    async subscribe(channel, listener) {
      const hear = (from: string, message: string) => void (from === channel && listener(message))
      hearing.set(listener, hear)
      redis.on('message', hear)
      await redis.subscribe(channel)
    },
    async unsubscribe(_channel, listener) {
      const hear = hearing.get(listener)
      // Other subscriptions of the application may use the channel.
      if (hear) redis.off('message', hear)
    },
    destroy: () => redis.disconnect(),
  }
}
