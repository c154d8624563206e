/** Keys and arguments of a script call. */
export interface ScriptArguments {
  /** What the script sees as `KEYS`. */
  keys: string[]
  /** What the script sees as `ARGV`. */
  arguments: string[]
}

/**
 * What the store asks of a Redis client. A client, pool, sentinel or cluster of node-redis 5 and 6 is one as it is;
 * an ioredis client becomes one through {@link fromIoredis}.
 */
export interface RedisClient {
  /** Runs a script that the server knows by its SHA-1; `NOSCRIPT` when it does not. */
  evalSha(sha1: string, options: ScriptArguments): Promise<unknown>
  /** Runs a script by its text. */
  eval(script: string, options: ScriptArguments): Promise<unknown>
  /** Reads a string. */
  get(key: string): Promise<unknown>
  /** Reads a field of a hash. */
  hGet(key: string, field: string): Promise<unknown>
  /** Reads a part of a hash, or all of a small one: the sessions of a user are then read without a script. */
  hScan?(
    key: string,
    cursor: string,
    options: { MATCH: string; COUNT: number },
  ): Promise<{
    /** Where to go on; `0`: that was all. */
    cursor: unknown
    /** The fields of this part. */
    entries: {
      /** The name of the field. */
      field: unknown
      /** What is in it. */
      value: unknown
    }[]
  }>
  /** Counts the keys that there are: many sessions are then asked for at once. */
  exists?(keys: string[]): Promise<unknown>
  /** Waits, on a single connection, until so many replicas have what it wrote: needed for `durability: 'replica'`. */
  wait?(replicas: number, timeoutMs: number): Promise<unknown>
  /** A pool lends a connection. */
  // biome-ignore lint/suspicious/noExplicitAny: each kind of client lends a type of its own.
  execute?(task: (connection: any) => Promise<unknown>): Promise<unknown>
  /** A sentinel lends a connection to the master. */
  // biome-ignore lint/suspicious/noExplicitAny: each kind of client lends a type of its own.
  use?(task: (connection: any) => Promise<unknown>): Promise<unknown>
  /** A cluster tells the connection to the master of a key. */
  getNodeClientForKey?(key: string, isReadonly?: boolean): Promise<unknown>
  /** Lists keys that match a pattern, a part at a time: needed for uninstalling. */
  scan?(
    cursor: string,
    options: { MATCH: string; COUNT: number },
  ): Promise<{
    /** Where to go on; `0`: that was all. */
    cursor: unknown
    /** The keys of this part. */
    keys: string[]
  }>
  /** Deletes a key: needed for uninstalling. */
  del?(key: string): Promise<unknown>
  /** A cluster lists its masters: needed for uninstalling. */
  readonly masters?: readonly unknown[]
  /** A cluster lends the connection to a master: needed for uninstalling. */
  nodeClient?(master: never): unknown
}
