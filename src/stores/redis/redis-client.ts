import { invalidOption } from '../../ground/invalid-option.ts'

/** Keys and arguments of a script call. */
export interface ScriptArguments {
  /** `KEYS` of the script. */
  keys: string[]
  /** `ARGV` of the script. */
  arguments: string[]
}

/** A Redis client that receives the messages of other processes. It cannot run commands at the same time. */
export interface RedisSubscriber {
  /** Calls a listener with each message on a channel. */
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  /** Stops calling a listener with the messages on a channel. */
  unsubscribe?(channel: string, listener: (message: string) => void): Promise<unknown>
  /** Adds a listener for an event, such as `ready`, emitted each time the client connects. */
  on?(event: string, listener: (argument: unknown) => void): unknown
  /** Removes a listener. */
  off?(event: string, listener: (argument: unknown) => void): unknown
  /** Connects. Not called on clients that you pass. */
  connect?(): Promise<unknown>
  /** Closes the connection. Not called on clients that you pass. */
  destroy?(): unknown
  /** Closes the connection of a client that has no `destroy`, such as one from node-redis 4. */
  disconnect?(): unknown
}

/**
 * The Redis client that the store needs. Pass clients, pools, sentinels and clusters from node-redis 5 or 6 directly,
 * and wrap an ioredis client with {@link fromIoredis}.
 */
export interface RedisClient {
  /** Runs a script by its SHA-1. Fails with `NOSCRIPT` if the server does not have it. */
  evalSha(sha1: string, options: ScriptArguments): Promise<unknown>
  /** Runs a script by its source. */
  eval(script: string, options: ScriptArguments): Promise<unknown>
  /** Reads a string. */
  get(key: string): Promise<unknown>
  /** Counts how many of the keys exist, to check many sessions at once. */
  exists?(keys: string[]): Promise<unknown>
  /**
   * Waits until this many replicas have received what the same connection has written. Needed for `durability:
   * 'replica'`.
   */
  wait?(replicas: number, timeoutMs: number): Promise<unknown>
  /** Sends a message to all subscribers, so that other processes close the connections of an ended session. */
  publish?(channel: string, message: string): Promise<unknown>
  /** Creates a client like this one, to receive the messages of other processes. */
  duplicate?(overrides?: object): unknown
  /** Runs a task on one connection of a pool. */
  // biome-ignore lint/suspicious/noExplicitAny: each kind of client passes a connection of its own type.
  execute?(task: (connection: any) => Promise<unknown>): Promise<unknown>
  /** Runs a task on a sentinel's connection to the primary. */
  // biome-ignore lint/suspicious/noExplicitAny: each kind of client passes a connection of its own type.
  use?(task: (connection: any) => Promise<unknown>): Promise<unknown>
  /** Returns a cluster's connection to the primary that holds a key. */
  getNodeClientForKey?(key: string, isReadonly?: boolean): Promise<unknown>
  /** Lists keys that match a pattern, in batches. Needed for uninstalling. */
  scan?(
    cursor: string,
    options: { MATCH: string; COUNT: number },
  ): Promise<{
    /** Cursor of the next part, or `0` if this was the last one. */
    cursor: unknown
    /** The keys in this part. */
    keys: string[]
  }>
  /** Deletes a key. Needed for uninstalling. */
  del?(key: string): Promise<unknown>
  /** The options of the client. */
  readonly options?: {
    /** Prefix that the client adds to keys. */
    readonly keyPrefix?: unknown
    /** Options of each command. */
    readonly commandOptions?: object
  }
  /** The primaries of a cluster. Needed for uninstalling. */
  readonly masters?: readonly unknown[]
  /** Returns a cluster's connection to one of its primaries. Needed for uninstalling. */
  nodeClient?(master: never): unknown
}

/** Returns the prefix that a client adds to keys in its methods, but not in patterns. */
export function keyPrefixOf({ options }: RedisClient): string {
  return String(options?.keyPrefix ?? '')
}

/** The commands of an ioredis client or cluster that the store uses. */
export interface IoredisClient {
  /** Runs a script by its SHA-1. Fails with `NOSCRIPT` if the server does not have it. */
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  /** Runs a script by its source. */
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  /** Reads a string. */
  get(key: string): Promise<unknown>
  /** Whether this is a cluster. */
  readonly isCluster?: boolean
  /** Returns a cluster's clients for its primaries. */
  nodes?(role: 'master'): readonly IoredisClient[]
  /** The options of the client. */
  readonly options?: {
    /** Prefix that the client adds to keys. */
    readonly keyPrefix?: string | undefined
  }
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
  for (const method of ['evalsha', 'eval', 'get', 'del'] as const) {
    if (typeof redis?.[method] === 'function') continue
    throw invalidOption(`fromIoredis() needs a client or cluster from the ioredis package: it has no ${method}()`)
  }
  const client: RedisClient = {
    evalSha: (sha1, { keys, arguments: args }) => redis.evalsha(sha1, keys.length, ...keys, ...args),
    eval: (script, { keys, arguments: args }) => redis.eval(script, keys.length, ...keys, ...args),
    get: (key) => redis.get(key),
    del: (key) => redis.del(key),
    options: { keyPrefix: redis.options?.keyPrefix },
    publish: async (channel, message) => redis.publish?.(channel, message),
    ...(redis.duplicate && { duplicate: () => ioredisSubscriber(redis.duplicate?.() as IoredisSubscriber) }),
  }
  if (!redis.isCluster) return { ...client, ...nodeCommands(redis) }
  return {
    ...client,
    get masters() {
      return redis.nodes?.('master') ?? []
    },
    nodeClient: (node: IoredisClient) => primaryOf(node, redis.options?.keyPrefix ?? ''),
  }
}

/** Returns a client for a primary of a cluster. The cluster adds its prefix to keys, but its primaries do not. */
function primaryOf(node: IoredisClient, keyPrefix: string): RedisClient {
  return { ...fromIoredis(node), del: (key) => node.del(keyPrefix + key), options: { keyPrefix } }
}

/** Returns the commands that have no key. Not for clusters, which would send them to an arbitrary node. */
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
      // Stay subscribed, because the application may use the channel as well.
      if (hear) redis.off('message', hear)
    },
    destroy: () => redis.disconnect(),
  }
}
