import { closeSync, openSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { rewordError } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'

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

type DatabaseClass = new (path: string) => SqliteDatabase

/** The packages to try, in order. `node:sqlite` is last, because it prints a warning in some versions of Node. */
const PACKAGES = ['better-sqlite3', 'libsql', 'node:sqlite']

/**
 * Finds the application's SQLite package and returns a function that opens a file with it. A missing file is created so
 * that only the owner of the process may read it.
 *
 * @param caller Function that the message names.
 * @throws SessmgrError `invalid_option` if no package is found.
 */
export function sqliteOpener(path: string, caller = 'sqliteStore'): () => SqliteDatabase {
  const Database = findPackage(caller)
  return () => {
    createPrivately(path)
    try {
      return new Database(path)
    } catch (error) {
      throw explainSqlite(error)
    }
  }
}

/** Checks whether a path leads to a file, and is not an in-memory database or a URL. */
export function isFilePath(path: string): boolean {
  return !/^(:memory:|\w{2,}:)/.test(path)
}

/**
 * Creates a file that only its owner may read, unless the file exists. SQLite sets the same permissions on its other
 * files.
 */
function createPrivately(path: string): void {
  if (!isFilePath(path)) return
  try {
    // Never opens an existing file, because closing it again would release SQLite's locks in this process.
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // SQLite itself reports a path that cannot be used.
  }
}

/** Loads the first package that it finds. An `import` would make bundlers require all three. */
function findPackage(caller: string): DatabaseClass {
  const places = [join(process.cwd(), 'package.json'), process.argv[1]].filter((it) => it !== undefined)
  for (const name of PACKAGES) {
    for (const place of places) {
      try {
        const loaded = createRequire(place)(name)
        return loaded.DatabaseSync ?? loaded
      } catch (error) {
        // Report a package that is installed but fails, for example because it was built for another version of Node.
        if (!/MODULE_NOT_FOUND|UNKNOWN_BUILTIN_MODULE/.test(String((error as { code?: unknown }).code))) throw error
      }
    }
  }
  throw invalidOption(
    `${caller}({ path }) found no package to open the file with. Run "npm install better-sqlite3" or ` +
      '"npm install libsql", or use Node 22.13 or newer, which includes SQLite',
  )
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

  /** Closes the database, if the connection opened it itself. */
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

  /** Runs a write after all earlier ones of this process. Concurrent writes would only block each other. */
  inTurn<T>(task: () => T): Promise<T> {
    const start = performance.now()
    const written = this.#lastWrite.then(() => this.patiently(task, start))
    this.#lastWrite = written.catch(() => {})
    return written
  }

  /** Runs a task, and retries it while another process is writing. Does not block this process in between. */
  async patiently<T>(task: () => T, start = performance.now()): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        this.#file?.check()
        this.#requireReady()
        const result = task()
        this.#file?.noteLog()
        return result
      } catch (error) {
        if (!isBusy(error) || performance.now() - start > PATIENCE_MS) throw explainSqlite(error)
        if (this.#owned && isStale(error) && tries % STALE_TRIES === 0) this.#reopen()
      }
      await sleep(1 + Math.random() * 10)
    }
  }

  /**
   * Throws if the application has closed the database, which would crash libsql, or has a transaction open, in which a
   * call could read old data or be rolled back.
   */
  #requireReady(): void {
    if ((this.#database as { open?: unknown }).open === false) throw new Error('The database is closed')
    // The first property is from better-sqlite3 and libsql, the second from node:sqlite.
    const { inTransaction, isTransaction } = this.#database as { inTransaction?: unknown; isTransaction?: unknown }
    if (inTransaction !== true && isTransaction !== true) return
    const message = 'Your application has kept a transaction open for too long on the sqliteStore() database'
    throw Object.assign(new Error(`${message}. Give sqliteStore() its own database`), { code: 'SQLITE_BUSY' })
  }

  /**
   * Opens the database again. If several processes create a file at once, a libsql connection may keep seeing an old
   * state.
   */
  #reopen(): void {
    this.#file?.forgetLog()
    this.#database.close()
    this.#statements.clear()
    this.#database = this.#open()
    this.#configure()
  }
}

/** How often to check the files. */
const LOOK_EVERY_MS = 1000
/**
 * Suffixes of the files in which SQLite keeps the latest writes. SQLite deletes them when the last connection closes.
 */
const LOG_SUFFIXES = ['-wal', '-shm']

/**
 * Detects that the files of an open database were deleted or replaced. The process would otherwise continue to use the
 * old files.
 */
class UsedFile {
  readonly #path: string
  readonly #identity: string | undefined
  /** Identities of the write-ahead log's files, by path, once the connection has them open. */
  #log: ReadonlyMap<string, string> | undefined
  #nextLook = 0

  /** @param path The path of an existing file. Anything else is not checked. */
  constructor(path: string) {
    this.#path = resolve(path)
    this.#identity = identityOf(this.#path)
  }

  /** @throws Error if a file was deleted or replaced, so that a newly started process would open another one. */
  check(): void {
    const now = performance.now()
    if (this.#identity === undefined || now < this.#nextLook) return
    if (identityOf(this.#path) !== this.#identity) throw replaced(this.#path, 'Put it back, or restart')
    for (const [path, identity] of this.#log ?? []) {
      if (identityOf(path) !== identity) throw replaced(path, 'Restart')
    }
    this.#nextLook = now + LOOK_EVERY_MS
  }

  /** Records the files of the log. Call it after a statement: from then on, no other process deletes them. */
  noteLog(): void {
    if (this.#identity === undefined || this.#log) return
    const found = LOG_SUFFIXES.map((suffix) => [this.#path + suffix, identityOf(this.#path + suffix)] as const)
    this.#log = new Map(found.filter((file): file is [string, string] => file[1] !== undefined))
  }

  /** Forgets the files of the log. Call it before the connection is closed. */
  forgetLog(): void {
    this.#log = undefined
  }
}

function replaced(path: string, cure: string): Error {
  const problem = `The file ${path} of sqliteStore() was deleted or replaced while in use`
  return new Error(`${problem}. ${cure} every process of the app`)
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

const OTHER_TABLE = 'This version of sessmgr cannot use this table. Name another table with the "table" option'

/** Advice for errors that only an operator can fix, by SQLite's message, because each package has different codes. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/readonly database/, 'Make the file and its folder writable for this process'],
  [/no such table/, 'Restart the app, which creates the table'],
  [/no such column|has no column|match any PRIMARY KEY/, OTHER_TABLE],
  [/disk is full/, 'Free some space'],
  [/unable to open database file/, 'Create its folder, and make it writable for this process'],
  [/not a database|malformed/, 'Stop the app, and restore the file from a backup or delete it'],
]

/** Adds advice to an error of a SQLite package. */
function explainSqlite(error: unknown): Error {
  return rewordError(error, (text) => {
    const advice = ADVICE.find(([pattern]) => pattern.test(text))?.[1]
    return advice === undefined ? text : `${text}. ${advice}`
  })
}

/** Checks whether another process was writing. Each package reports this in its own way. */
function isBusy(error: unknown): boolean {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown }
  return /SQLITE_(BUSY|LOCKED)/.test(String(code)) || /database (table )?is locked/.test(String(message))
}

/** Checks whether a write failed because the connection has not seen a write of another connection. */
function isStale(error: unknown): boolean {
  return String((error as { code?: unknown }).code) === 'SQLITE_BUSY_SNAPSHOT'
}
