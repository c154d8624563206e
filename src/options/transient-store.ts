/**
 * Caches strings for a limited time. Entries may disappear at any moment.
 *
 * Rejects with `store_unavailable` if the store cannot be reached.
 */
export interface TransientStore {
  /** Reads a string. Resolves to undefined if it is unknown or has expired. */
  get(key: string): Promise<string | undefined>
  /** Stores a string for `ttlMs` milliseconds. */
  set(key: string, value: string, ttlMs: number): Promise<void>
  /**
   * Reads a string and deletes it, atomically. Of concurrent calls, exactly one resolves to the string. Needed for
   * `limiter.choice()`.
   */
  take?(key: string): Promise<string | undefined>
  /** Reads the generation of a group, which starts at 0. */
  generation(group: string): Promise<number>
  /**
   * Increments the generation of a group, atomically and in constant time. Earlier entries become invalid.
   */
  advance(group: string): Promise<number>
}
