/** A stored option value with the revision it was written as. */
export interface StoredOption {
  /** The value: plain JSON. */
  readonly value: unknown
  /** Changes with every write; never repeats for one option. */
  readonly revision: string
}

/**
 * Keeps named site options as JSON values.
 *
 * Rejects with `store_unavailable` when the store cannot be reached.
 */
export interface OptionStore {
  /** Reads an option. Never written: undefined. */
  get(name: string): Promise<StoredOption | undefined>
  /** Writes an option whole. The last of several parallel writes wins. */
  set(name: string, value: unknown): Promise<void>
  /**
   * Writes an option if it is still at a revision; undefined: if it has no value yet. Atomic.
   *
   * Resolves false, and changes nothing, when somebody else was faster.
   */
  swap(name: string, revision: string | undefined, value: unknown): Promise<boolean>
  /** Removes an option. Unknown: no error. */
  delete(name: string): Promise<void>
}
