/** A stored option value and its revision. */
export interface StoredOption {
  /** The value, as plain JSON. */
  readonly value: unknown
  /** Changes with every write and never repeats for the same option. */
  readonly revision: string
}

/**
 * Stores the site's options by name, as JSON values.
 *
 * Rejects with `store_unavailable` if the store cannot be reached.
 */
export interface OptionStore {
  /** Reads an option. Resolves to undefined if it was never written. */
  get(name: string): Promise<StoredOption | undefined>
  /** Replaces the value of an option. If several writes race, the last one wins. */
  set(name: string, value: unknown): Promise<void>
  /**
   * Atomically replaces the value of an option if it still has this revision; undefined means that it must have no
   * value.
   *
   * Resolves to false, and changes nothing, if another write came first.
   */
  swap(name: string, revision: string | undefined, value: unknown): Promise<boolean>
  /** Removes an option. Does nothing if there is none. */
  delete(name: string): Promise<void>
}
