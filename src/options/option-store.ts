/** A stored option value and its revision. */
export interface StoredOption {
  /** The value, plain JSON. */
  readonly value: unknown
  /** Changes with every write and never repeats for an option. */
  readonly revision: string
}

/**
 * Stores named site options as JSON values.
 *
 * Rejects with `store_unavailable` if the store cannot be reached.
 */
export interface OptionStore {
  /** Reads an option. Undefined if it was never written. */
  get(name: string): Promise<StoredOption | undefined>
  /** Replaces the value of an option. The last of several parallel writes wins. */
  set(name: string, value: unknown): Promise<void>
  /**
   * Replaces the value of an option if it still has this revision, or no value if undefined. Atomic.
   *
   * Resolves to false, and changes nothing, if another write came first.
   */
  swap(name: string, revision: string | undefined, value: unknown): Promise<boolean>
  /** Removes an option. An unknown one is not an error. */
  delete(name: string): Promise<void>
}
