/** A row as it is stored. */
export interface DocumentRow {
  /** A whole number that grows with every write of the row. */
  readonly revision: number
  /** What was written. */
  readonly text: string
}

/** Rows, and the time at which they were read. */
export interface DocumentReply {
  /** The database's clock: milliseconds since the Unix epoch. */
  readonly now: number
  /** The rows that were found, by key. */
  readonly rows: ReadonlyMap<string, DocumentRow>
}

/**
 * Stores small texts by key in a database: all that `documentStore()` needs to know of it.
 *
 * Each method is one statement outside any transaction, on the primary, and rejects when the database cannot be used.
 * `registerDocumentDriverContract` of `sessmgr/testing` proves a driver.
 */
export interface DocumentDriver {
  /** Names this memory: the same over restarts if, and only if, the memory survives them. */
  readonly id: string
  /** True when nothing outside this process sees the rows. @default false */
  readonly local?: boolean
  /** Reads the rows that have not expired, and the database's clock. Keys are ASCII, at most 210 characters, and case-sensitive. */
  get(keys: readonly string[]): Promise<DocumentReply>
  /**
   * Writes a row if it is still at `revision`; undefined: if there is no row, or only an expired one. Atomic.
   *
   * A row that is written again moves to `revision + 1`. A new row begins at the database's clock in milliseconds, or above
   * the expired row that it replaces, so that no revision ever comes back.
   *
   * @param lifeMs Milliseconds until the row expires by the database's clock; undefined: never.
   * @returns False, with nothing changed, when the row is at another revision.
   */
  swap(key: string, revision: number | undefined, text: string, lifeMs: number | undefined): Promise<boolean>
  /** Deletes expired rows, at most `count`, and returns how many. Deletes no other row, even one written meanwhile. */
  purge(count: number): Promise<number>
  /** Deletes every row. */
  wipe(): Promise<void>
  /** Closes what the driver itself opened. */
  close?(): Promise<void>
}
