import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../ground/clock.ts'
import type { DocumentDriver, DocumentRow } from '../document/document-driver.ts'
import { quoteName, tableSchema } from '../document/table-schema.ts'
import { explainSqlite, isBusy, isStale } from './sqlite-errors.ts'
import { UsedFile } from './used-file.ts'

/** A database opened with better-sqlite3, libsql or `node:sqlite`. */
export interface SqliteDatabase {
  /** Runs statements without a result. */
  exec(sql: string): unknown
  /** Prepares a statement. */
  prepare(sql: string): SqliteStatement
  /** Closes the database. */
  close(): unknown
}

/** A prepared statement. */
export interface SqliteStatement {
  /** Returns all rows. */
  all(...values: (string | number | null)[]): unknown[]
  /** Runs the statement. */
  run(...values: (string | number | null)[]): {
    /** Number of changed rows. */
    readonly changes: number | bigint
  }
}

/** How long SQLite itself waits for another process. This blocks the current process. */
const BUSY_MS = 20
/** After this many tries, a stale connection will not recover by itself. */
const STALE_TRIES = 3
/** How long a call waits for other processes in total. */
const PATIENCE_MS = 1500

const NOW = "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS now"

/** Options of a SQLite driver. */
export interface SqliteDriverOptions {
  readonly id: string
  readonly local: boolean
  readonly table: string
  /** The file, if known. */
  readonly file?: string | undefined
  readonly clock: Clock | undefined
  /** Whether `open` opens a new database each time, to be closed with the driver. */
  readonly owned: boolean
}

/** Stores rows in a SQLite table, with one statement per call. */
export class SqliteDriver implements DocumentDriver {
  readonly id: string
  readonly local: boolean
  readonly #table: string
  readonly #schema: readonly string[]
  readonly #file: UsedFile | undefined
  readonly #open: () => SqliteDatabase
  #database: SqliteDatabase
  readonly #clock: Clock
  readonly #owned: boolean
  readonly #statements = new Map<string, SqliteStatement>()

  /** @param clock Replaces SQLite's clock, which is that of the machine. */
  constructor(open: () => SqliteDatabase, { id, local, table, file, clock, owned }: SqliteDriverOptions) {
    this.id = id
    this.local = local
    this.#table = quoteName('sqlite', table)
    this.#schema = tableSchema('sqlite', table)
    this.#open = open
    this.#database = open()
    this.#file = file === undefined ? undefined : new UsedFile(file)
    this.#owned = owned
    const now = () => (this.#statement(NOW).all()[0] as { readonly now: number }).now
    this.#clock = clock ?? { now }
  }

  /** Prepares the database for several processes, and creates the table unless it exists. */
  async open(): Promise<void> {
    await this.#patiently(() => {
      this.#configure()
      this.#database.exec('PRAGMA journal_mode = WAL')
      for (const statement of this.#schema) this.#database.exec(statement)
    })
  }

  #configure(): void {
    this.#database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    // A logout that has been confirmed must survive a power cut.
    this.#database.exec('PRAGMA synchronous = FULL')
  }

  get(keys: readonly string[]) {
    return this.#patiently(() => {
      const select = this.#statement(
        `SELECT revision, body FROM ${this.#table} WHERE id = ? AND (expires_at IS NULL OR expires_at > ?)`,
      )
      const now = this.#clock.now()
      const rows = new Map<string, DocumentRow>()
      for (const key of keys) {
        const row = select.all(key, now)[0] as { readonly revision: number; readonly body: string } | undefined
        if (row) rows.set(key, { revision: row.revision, text: row.body })
      }
      return { now, rows }
    })
  }

  async swap(key: string, revision: number | undefined, text: string, lifeMs: number | undefined): Promise<boolean> {
    const changes = await this.#patiently(() => {
      const now = this.#clock.now()
      const until = lifeMs === undefined ? null : now + lifeMs
      return revision === undefined ? this.#insert(key, text, now, until) : this.#update(key, revision, text, until)
    })
    return Number(changes) === 1
  }

  #update(key: string, revision: number, text: string, until: number | null) {
    const sql = `UPDATE ${this.#table} SET revision = revision + 1, body = ?, expires_at = ? WHERE id = ? AND revision = ?`
    return this.#statement(sql).run(text, until, key, revision).changes
  }

  #insert(key: string, text: string, now: number, until: number | null) {
    const sql = `INSERT INTO ${this.#table} AS s (id, revision, body, expires_at) VALUES (?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET revision = max(s.revision + 1, excluded.revision), body = excluded.body,
      expires_at = excluded.expires_at WHERE s.expires_at <= excluded.revision`
    return this.#statement(sql).run(key, now, text, until).changes
  }

  async purge(count: number): Promise<number> {
    const sql = `DELETE FROM ${this.#table} WHERE id IN (SELECT id FROM ${this.#table} WHERE expires_at <= ? LIMIT ?)`
    return Number(await this.#patiently(() => this.#statement(sql).run(this.#clock.now(), count).changes))
  }

  async wipe(): Promise<void> {
    await this.#patiently(() => this.#statement(`DELETE FROM ${this.#table}`).run())
  }

  async close(): Promise<void> {
    if (this.#owned) this.#database.close()
  }

  #statement(sql: string): SqliteStatement {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /** Retries while another process is writing, and lets this process continue in between. */
  async #patiently<T>(task: () => T): Promise<T> {
    const start = performance.now()
    for (let tries = 1; ; tries++) {
      try {
        this.#file?.check()
        this.#refuseTransaction()
        return task()
      } catch (error) {
        if (!isBusy(error) || performance.now() - start > PATIENCE_MS) throw explainSqlite(error)
        if (this.#owned && isStale(error) && tries % STALE_TRIES === 0) this.#reopen()
      }
      await sleep(1 + Math.random() * 10)
    }
  }

  /** Keeps out of a transaction of the application, which may be rolled back and sees old data. */
  #refuseTransaction(): void {
    // The first property is from better-sqlite3 and libsql, the second from node:sqlite.
    const { inTransaction, isTransaction } = this.#database as { inTransaction?: unknown; isTransaction?: unknown }
    if (inTransaction !== true && isTransaction !== true) return
    const message = 'Your application has kept a transaction open for too long on the database of sqliteStore()'
    throw Object.assign(new Error(`${message}. Give sqliteStore() its own database`), { code: 'SQLITE_BUSY' })
  }

  /** If several processes create a file at once, a libsql connection may keep seeing an old state of it. */
  #reopen(): void {
    this.#database.close()
    this.#statements.clear()
    this.#database = this.#open()
    this.#configure()
  }
}
