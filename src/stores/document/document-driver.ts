/** A stored row. */
export interface DocumentRow {
  /** An integer that grows with every write of the row. */
  readonly revision: number
  /** The stored text. */
  readonly text: string
}

/** Rows, and the time of reading. */
export interface DocumentReply {
  /** The database's clock, in milliseconds since the Unix epoch. */
  readonly now: number
  /** The rows found, by key. */
  readonly rows: ReadonlyMap<string, DocumentRow>
}

/**
 * Stores short texts by key in a database, for `documentStore()`.
 *
 * Each method is one statement outside a transaction, on the primary, and rejects if the database cannot be used. Test
 * a driver with `registerDocumentDriverContract` of `sessmgr/testing`.
 */
export interface DocumentDriver {
  /** Identifies this data: the same after a restart if, and only if, the data survives it. */
  readonly id: string
  /** True if no other process can see the rows. @default false */
  readonly local?: boolean
  /**
   * Reads rows that have not expired, and the database's clock. At most 500 keys, which are ASCII, at most 210
   * characters, and case-sensitive.
   */
  get(keys: readonly string[]): Promise<DocumentReply>
  /**
   * Writes a row if it is still at `revision`; if undefined, only if there is no row or an expired one. Atomic.
   *
   * Each write increments the revision. A new row begins at the database's clock in milliseconds, or above the expired
   * row that it replaces, so that a revision never repeats.
   *
   * @param lifeMs Milliseconds until the row expires by the database's clock; undefined for never.
   * @returns False, with nothing changed, if the row has another revision.
   */
  swap(key: string, revision: number | undefined, text: string, lifeMs: number | undefined): Promise<boolean>
  /** Deletes at most `count` expired rows and returns their number. Never deletes a row that was written meanwhile. */
  purge(count: number): Promise<number>
  /** Deletes every row. */
  wipe(): Promise<void>
  /** Closes what the driver itself opened. */
  close?(): Promise<void>
}
