/** Keys and arguments of a script call. */
export interface ScriptArguments {
  keys: string[]
  arguments: string[]
}

/**
 * What the store asks of a Redis client. A client, pool, sentinel or cluster of node-redis 5 and 6 is one as it is;
 * an ioredis client becomes one through {@link fromIoredis}.
 */
export interface RedisClient {
  evalSha(sha1: string, options: ScriptArguments): Promise<unknown>
  eval(script: string, options: ScriptArguments): Promise<unknown>
  get(key: string): Promise<unknown>
  hGet(key: string, field: string): Promise<unknown>
  /** A single connection: needed for `durability: 'replica'`. */
  wait?(replicas: number, timeoutMs: number): Promise<unknown>
  /** A pool lends a connection. */
  execute?(task: BorrowingTask): Promise<unknown>
  /** A sentinel lends a connection to the master. */
  use?(task: BorrowingTask): Promise<unknown>
  /** A cluster tells the connection to the master of a key. */
  getNodeClientForKey?(key: string, isReadonly?: boolean): Promise<unknown>
  /** Needed for uninstalling. */
  scan?(cursor: string, options: { MATCH: string; COUNT: number }): Promise<{ cursor: unknown; keys: string[] }>
  /** Needed for uninstalling. */
  del?(key: string): Promise<unknown>
  /** A cluster lists its masters and lends a connection to each: needed for uninstalling. */
  readonly masters?: readonly unknown[]
  nodeClient?(master: never): unknown
}

// biome-ignore lint/suspicious/noExplicitAny: each kind of client lends a type of its own.
type BorrowingTask = (connection: any) => Promise<unknown>
