import type { StoreSignals } from '../store.ts'

/** A stored row. */
export interface DocumentRow {
  /** Name of the last write, and perhaps of some before it: at most 64 ASCII characters, given by the writer. */
  readonly revision: string
  /** The stored string. */
  readonly text: string
}

/** The rows that were read, and when. */
export interface DocumentReply {
  /** Time of the read by the database's clock, in milliseconds since the Unix epoch. */
  readonly now: number
  /** The rows found, by key. */
  readonly rows: ReadonlyMap<string, DocumentRow>
}

/**
 * Stores short strings by key in a database, for `documentStore()`.
 *
 * Each method runs one statement outside a transaction, on the primary, and rejects if the database cannot be used.
 * Test your driver with `registerDocumentDriverContract` from `sessmgr/testing`.
 */
export interface DocumentDriver {
  /** Whether the rows are invisible to other processes. @default false */
  readonly local?: boolean
  /**
   * Reads the rows of at most 500 keys, except expired rows, and the database's clock. Keys are ASCII, case-sensitive,
   * and at most 210 characters long.
   */
  get(keys: readonly string[]): Promise<DocumentReply>
  /**
   * Writes `row` if the stored row is still at the revision `before`. If `before` is undefined, the stored row must be
   * missing or expired. Atomic.
   *
   * @param lifeMs Milliseconds until the row expires by the database's clock; undefined means never.
   * @returns False, with nothing changed, if the stored row is at another revision. May also be false if the driver or
   * the database has sent the write twice, and the first one was made.
   */
  swap(key: string, before: string | undefined, row: DocumentRow, lifeMs: number | undefined): Promise<boolean>
  /**
   * Deletes up to `count` expired rows and returns how many it deleted. Never deletes a row that has been rewritten in
   * the meantime.
   */
  purge(count: number): Promise<number>
  /** Deletes every row. */
  wipe(): Promise<void>
  /** Passes messages between processes, if the database supports that. */
  readonly signals?: StoreSignals | undefined
  /** Closes what the driver opened itself. */
  close?(): Promise<void>
}

/**
 * Returns a driver that opens on its first call. If opening fails, that call fails, and the next call tries again.
 *
 * @param known Members that work before the driver is open.
 */
export function lateDriver<Known extends Pick<DocumentDriver, 'local' | 'signals' | 'close'>>(
  known: Known,
  open: () => Promise<DocumentDriver>,
): DocumentDriver & Known {
  let opening: Promise<DocumentDriver> | undefined
  const opened = () => {
    opening ??= open().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }
  return {
    ...known,
    get: async (...call) => (await opened()).get(...call),
    swap: async (...call) => (await opened()).swap(...call),
    purge: async (...call) => (await opened()).purge(...call),
    wipe: async () => (await opened()).wipe(),
    // Even if the driver was never opened, its signals may hold a connection.
    close: async () => ((await opening?.catch(() => undefined)) ?? known).close?.(),
  }
}
