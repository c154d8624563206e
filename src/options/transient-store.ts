/**
 * Keeps texts for a while. What is in it may be gone at any moment.
 *
 * Rejects with `store_unavailable` when the store cannot be reached.
 */
export interface TransientStore {
  /** Reads a text. Unknown or expired: undefined. */
  get(key: string): Promise<string | undefined>
  /** Keeps a text for `ttlMs` milliseconds. */
  set(key: string, value: string, ttlMs: number): Promise<void>
  /** Reads the generation of a group of texts; 0 before the first step. */
  generation(group: string): Promise<number>
  /** Moves the generation of a group on by one, atomically, in constant time: what was kept under an earlier one is void. */
  advance(group: string): Promise<number>
}
