import { setTimeout as sleep } from 'node:timers/promises'
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

export interface SqliteConnectionOptions {
  /** The file, if known. */
  readonly file?: string | undefined
  /** Whether `open` opens a new database each time, to be closed with the connection. */
  readonly owned: boolean
}

/** A connection to SQLite that waits for other processes. */
export class SqliteConnection {
  readonly #open: () => SqliteDatabase
  #database: SqliteDatabase
  readonly #owned: boolean
  readonly #file: UsedFile | undefined
  readonly #statements = new Map<string, SqliteStatement>()
  #lastWrite: Promise<unknown> = Promise.resolve()

  constructor(open: () => SqliteDatabase, { file, owned }: SqliteConnectionOptions) {
    this.#open = open
    this.#database = open()
    this.#owned = owned
    this.#file = file === undefined ? undefined : new UsedFile(file)
  }

  /** Prepares the database for several processes, and creates the tables of the schema. */
  async prepare(schema: readonly string[]): Promise<void> {
    await this.patiently(() => {
      this.#configure()
      this.#database.exec('PRAGMA journal_mode = WAL')
      for (const statement of schema) this.#database.exec(statement)
    })
  }

  #configure(): void {
    this.#database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    // A logout that has been confirmed must survive a power cut.
    this.#database.exec('PRAGMA synchronous = FULL')
  }

  /** Closes what the connection opened itself. */
  close(): void {
    if (this.#owned) this.#database.close()
  }

  /**
   * Runs a write in its own transaction, and returns the number of changed rows. Without a transaction, a libsql
   * statement that finds the file locked stays open and blocks later commits.
   */
  write(sql: string, ...values: (string | number | null)[]): number {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const { changes } = this.statement(sql).run(...values)
      this.#database.exec('COMMIT')
      return Number(changes)
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK')
    } catch {
      // After some failures, SQLite has already rolled back.
    }
  }

  /** Returns a prepared statement. */
  statement(sql: string): SqliteStatement {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /**
   * Runs a write after all earlier ones of this process. If they all tried at once, they would only block each other.
   */
  inTurn<T>(task: () => T): Promise<T> {
    const start = performance.now()
    const written = this.#lastWrite.then(() => this.patiently(task, start))
    this.#lastWrite = written.catch(() => {})
    return written
  }

  /** Retries while another process is writing, and lets this process continue in between. */
  async patiently<T>(task: () => T, start = performance.now()): Promise<T> {
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

  /** Refuses to work inside one of the application's transactions, which may be rolled back and read old data. */
  #refuseTransaction(): void {
    // The first property is from better-sqlite3 and libsql, the second from node:sqlite.
    const { inTransaction, isTransaction } = this.#database as { inTransaction?: unknown; isTransaction?: unknown }
    if (inTransaction !== true && isTransaction !== true) return
    const message = 'Your application has kept a transaction open for too long on the database of sqliteStore()'
    throw Object.assign(new Error(`${message}. Give sqliteStore() its own database`), { code: 'SQLITE_BUSY' })
  }

  /** If several processes create a file at once, a libsql connection may keep seeing an old state of the file. */
  #reopen(): void {
    this.#database.close()
    this.#statements.clear()
    this.#database = this.#open()
    this.#configure()
  }
}
