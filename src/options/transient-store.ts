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
  /** Reads and deletes a string, atomically. Of concurrent calls, only one resolves to the string. */
  take(key: string): Promise<string | undefined>
  /** Reads the generation of a group, which starts at 0. */
  generation(group: string): Promise<number>
  /**
   * Increments the generation of a group, atomically and in constant time. Entries of earlier generations become
   * invalid.
   */
  advance(group: string): Promise<number>
}
