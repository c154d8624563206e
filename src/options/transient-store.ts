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
  /**
   * Stores a string for `ttlMs` milliseconds if the key has the string `before`, atomically. If `before` is undefined,
   * the key must have none. Resolves to what the key had: `before` if the string was stored.
   *
   * Needed to count guesses, and choices with a `cooldown`, across processes.
   */
  swap?(key: string, before: string | undefined, value: string, ttlMs: number): Promise<string | undefined>
  /** Reads the generation of a group, which starts at 0. */
  generation(group: string): Promise<number>
  /**
   * Increments the generation of a group, atomically and in constant time. Earlier entries become invalid.
   */
  advance(group: string): Promise<number>
}

/** Deletes a string, also one that an earlier version has stored in another way. */
export async function dropTransient(transients: TransientStore, key: string): Promise<void> {
  if (!transients.take) await transients.set(key, '', 1)
  else while ((await transients.take(key)) !== undefined);
}
