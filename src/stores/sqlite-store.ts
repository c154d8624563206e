import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Clock } from '../ground/clock.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { requireMethods, requireOptions } from '../ground/option-checks.ts'
import { type DocumentDriver, type DocumentRow, lateDriver } from './document/document-driver.ts'
import { expiryStep } from './document/document-rows.ts'
import { type DocumentStoreOptions, documentStore } from './document/document-store.ts'
import { quoteName, requireTableName, tableSchema } from './document/table-schema.ts'
import {
  isFilePath,
  SqliteConnection,
  type SqliteConnectionOptions,
  type SqliteDatabase,
  sqliteOpener,
} from './sqlite-connection.ts'
import type { SessmgrStore } from './store.ts'

/** Options of sqliteStore(). Omitted and undefined options use their defaults. */
export interface SqliteStoreOptions extends DocumentStoreOptions {
  /**
   * Path of the file, which all processes on one machine may share. Opened with better-sqlite3, libsql or
   * `node:sqlite`.
   */
  path?: string | undefined
  /** An open database from better-sqlite3, libsql or `node:sqlite`, instead of `path`. You close it. */
  database?: SqliteDatabase | undefined
  /** Name of the table, which is created if it is missing. @default 'sessmgr' */
  table?: string | undefined
  /** Replaces the machine's clock in tests. */
  clock?: Clock | undefined
}

const OPTIONS = ['path', 'database', 'table', 'clock', 'deadlineMs', 'logger']

/**
 * Creates a store in one SQLite file, without a server, for any number of processes on one machine.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option, or if the folder of the file does not exist.
 * @example
 * app.use(sessmgr({ store: sqliteStore({ path: 'sessmgr.db' }) }))
 */
export function sqliteStore(options: SqliteStoreOptions): SessmgrStore {
  checkOptions(options)
  const { path, database, table = 'sessmgr', clock, ...rest } = options
  const file = path ?? fileOf(database)
  const local = file === ':memory:'
  const openDatabase = database ? () => database : sqliteOpener(path as string)
  const open = async () => {
    const driver = new SqliteDriver(openDatabase, {
      local,
      table,
      file: local ? undefined : file,
      clock,
      owned: database === undefined,
    })
    await driver.open()
    return driver
  }
  return { ...documentStore(lateDriver({ local, clock }, open), rest), name: 'sqlite' }
}

/** Returns the file of an open database, `:memory:` for an in-memory database, or undefined if unknown. */
function fileOf(database: unknown): string | undefined {
  const { memory, name, location } = database as { memory?: unknown; name?: unknown; location?: unknown }
  // The first two properties are from better-sqlite3 and libsql, the last from node:sqlite.
  if (memory === true) return ':memory:'
  const found: unknown = typeof location === 'function' ? (location.call(database) ?? ':memory:') : name
  return typeof found === 'string' && found !== '' ? found : undefined
}

function checkOptions(options: SqliteStoreOptions): void {
  if (typeof options === 'string') {
    throw invalidOption("Pass the file as an option: sqliteStore({ path: 'sessmgr.db' })")
  }
  requireOptions('sqliteStore', options ?? {}, OPTIONS)
  const { path, database, table } = options ?? {}
  if ((path === undefined) === (database === undefined)) {
    throw invalidOption("sqliteStore() needs a file or an open database: sqliteStore({ path: 'sessmgr.db' })")
  }
  if (path !== undefined && (typeof path !== 'string' || path === '')) {
    throw invalidOption('"path" must be a file path')
  }
  if (path !== undefined && isFilePath(path)) {
    const folder = dirname(resolve(path))
    if (!existsSync(folder)) {
      throw invalidOption(
        `The folder ${folder} of sqliteStore({ path }) does not exist. Create it before you start the app`,
      )
    }
  }
  if (database !== undefined) requireMethods('database', database, ['exec', 'prepare', 'close'])
  if (table !== undefined) requireTableName(table)
}

const NOW = "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS now"

interface SqliteDriverOptions extends SqliteConnectionOptions {
  readonly local: boolean
  readonly table: string
  readonly clock: Clock | undefined
}

/** Stores rows in a SQLite table, with one statement per call. */
export class SqliteDriver implements DocumentDriver {
  readonly local: boolean
  readonly #table: string
  readonly #schema: readonly string[]
  readonly #connection: SqliteConnection
  readonly #clock: Clock

  /** @param clock Replaces SQLite's clock, which is the machine's clock. */
  constructor(open: () => SqliteDatabase, { local, table, clock, ...rest }: SqliteDriverOptions) {
    this.local = local
    this.#table = quoteName('sqlite', table)
    this.#schema = tableSchema('sqlite', table)
    this.#connection = new SqliteConnection(open, rest)
    const now = () => (this.#connection.statement(NOW).all()[0] as { readonly now: number }).now
    this.#clock = clock ?? { now }
  }

  /** Prepares the database for several processes, and creates the table unless it exists. */
  open(): Promise<void> {
    return this.#connection.prepare(this.#schema)
  }

  get(keys: readonly string[]) {
    return this.#connection.patiently(() => {
      const select = this.#connection.statement(
        `SELECT revision, body FROM ${this.#table} WHERE id = ? AND (expires_at IS NULL OR expires_at > ?)`,
      )
      const now = this.#clock.now()
      const rows = new Map<string, DocumentRow>()
      for (const key of keys) {
        const row = select.all(key, now)[0] as { readonly revision: string; readonly body: string } | undefined
        if (row) rows.set(key, { revision: row.revision, text: row.body })
      }
      return { now, rows }
    })
  }

  swap(key: string, before: string | undefined, row: DocumentRow, lifeMs: number | undefined): Promise<boolean> {
    return this.#connection.inTurn(() => {
      const now = this.#clock.now()
      const step = expiryStep(key, lifeMs)
      const until = lifeMs === undefined ? null : Math.ceil((now + lifeMs) / step) * step
      const changes = before === undefined ? this.#insert(key, row, now, until) : this.#update(key, before, row, until)
      return changes === 1
    })
  }

  #update(key: string, before: string, { revision, text }: DocumentRow, until: number | null) {
    const sql = `UPDATE ${this.#table} SET revision = ?, body = ?, expires_at = ? WHERE id = ? AND revision = ?`
    return this.#connection.write(sql, revision, text, until, key, before)
  }

  #insert(key: string, { revision, text }: DocumentRow, now: number, until: number | null) {
    const sql = `INSERT INTO ${this.#table} AS s (id, revision, body, expires_at) VALUES (?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, body = excluded.body,
      expires_at = excluded.expires_at WHERE s.expires_at <= ?`
    return this.#connection.write(sql, key, revision, text, until, now)
  }

  purge(count: number): Promise<number> {
    const sql = `DELETE FROM ${this.#table} WHERE id IN (SELECT id FROM ${this.#table} WHERE expires_at <= ? LIMIT ?)`
    return this.#connection.inTurn(() => this.#connection.write(sql, this.#clock.now(), count))
  }

  async wipe(): Promise<void> {
    await this.#connection.inTurn(() => this.#connection.write(`DELETE FROM ${this.#table}`))
  }

  async close(): Promise<void> {
    this.#connection.close()
  }
}
