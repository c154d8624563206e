/** Keys and arguments of a script call. */
export interface ScriptArguments {
  /** `KEYS` of the script. */
  keys: string[]
  /** `ARGV` of the script. */
  arguments: string[]
}

/**
 * The Redis client that the store needs. A client, pool, sentinel or cluster of node-redis 5 or 6 fits as it is; wrap
 * an ioredis client with {@link fromIoredis}.
 */
export interface RedisClient {
  /** Runs a script by its SHA-1; fails with `NOSCRIPT` if the server does not know it. */
  evalSha(sha1: string, options: ScriptArguments): Promise<unknown>
  /** Runs a script by its text. */
  eval(script: string, options: ScriptArguments): Promise<unknown>
  /** Reads a string. */
  get(key: string): Promise<unknown>
  /** Reads a field of a hash. */
  hGet(key: string, field: string): Promise<unknown>
  /** Reads a part of a hash, or all of a small one. Sessions of a user are then read without a script. */
  hScan?(
    key: string,
    cursor: string,
    options: { MATCH: string; COUNT: number },
  ): Promise<{
    /** Cursor of the next part; `0` if this was the last. */
    cursor: unknown
    /** The fields of this part. */
    entries: {
      /** Name of the field. */
      field: unknown
      /** Value of the field. */
      value: unknown
    }[]
  }>
  /** Counts existing keys, to check many sessions at once. */
  exists?(keys: string[]): Promise<unknown>
  /** Waits on a single connection until this many replicas have what it wrote. Needed for `durability: 'replica'`. */
  wait?(replicas: number, timeoutMs: number): Promise<unknown>
  /** Runs a task with one connection of a pool. */
  // biome-ignore lint/suspicious/noExplicitAny: each kind of client lends a type of its own.
  execute?(task: (connection: any) => Promise<unknown>): Promise<unknown>
  /** Runs a task with a connection of a sentinel to the primary. */
  // biome-ignore lint/suspicious/noExplicitAny: each kind of client lends a type of its own.
  use?(task: (connection: any) => Promise<unknown>): Promise<unknown>
  /** Returns the connection of a cluster to the primary of a key. */
  getNodeClientForKey?(key: string, isReadonly?: boolean): Promise<unknown>
  /** Lists keys that match a pattern, in batches. Needed for uninstalling. */
  scan?(
    cursor: string,
    options: { MATCH: string; COUNT: number },
  ): Promise<{
    /** Cursor of the next part; `0` if this was the last. */
    cursor: unknown
    /** The keys of this part. */
    keys: string[]
  }>
  /** Deletes a key. Needed for uninstalling. */
  del?(key: string): Promise<unknown>
  /** The primaries of a cluster. Needed for uninstalling. */
  readonly masters?: readonly unknown[]
  /** Returns the connection of a cluster to a primary. Needed for uninstalling. */
  nodeClient?(master: never): unknown
}
