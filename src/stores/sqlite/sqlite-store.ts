import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Clock } from '../../ground/clock.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { requireMethods, requireOptions } from '../../ground/option-checks.ts'
import { lateDriver } from '../document/document-driver.ts'
import { type DocumentStoreOptions, documentStore } from '../document/document-store.ts'
import { requireTableName } from '../document/table-schema.ts'
import type { SessmgrStore } from '../store.ts'
import type { SqliteDatabase } from './sqlite-connection.ts'
import { SqliteDriver } from './sqlite-driver.ts'
import { isFilePath, sqliteOpener } from './sqlite-opener.ts'

/** Options of sqliteStore(). Omitted and undefined options have their defaults. */
export interface SqliteStoreOptions extends DocumentStoreOptions {
  /** The file. All processes on one machine may share it. Opened with better-sqlite3, libsql or `node:sqlite`. */
  path?: string | undefined
  /** An open database of one of these packages, instead of `path`. You close it. */
  database?: SqliteDatabase | undefined
  /** Name of the table, which is created if it is missing. @default 'sessmgr' */
  table?: string | undefined
  /** Replaces the clock of the machine, for tests. */
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
  // The path is not included, because each process may spell it differently.
  const id = local ? `sqlite:${randomUUID()}` : `sqlite:${table}`
  const openDatabase = database ? () => database : sqliteOpener(path as string)
  const open = async () => {
    const driver = new SqliteDriver(openDatabase, {
      id,
      local,
      table,
      file: local ? undefined : file,
      clock,
      owned: database === undefined,
    })
    await driver.open()
    return driver
  }
  return { ...documentStore(lateDriver({ id, local }, open), rest), name: 'sqlite' }
}

/** Returns the file of an open database, `:memory:` for one that ends with its process, or undefined if unknown. */
function fileOf(database: unknown): string | undefined {
  const { memory, name, location } = database as { memory?: unknown; name?: unknown; location?: unknown }
  // The first two properties are from better-sqlite3 and libsql, the last one is from node:sqlite.
  if (memory === true) return ':memory:'
  const found: unknown = typeof location === 'function' ? (location.call(database) ?? ':memory:') : name
  return typeof found === 'string' && found !== '' ? found : undefined
}

function checkOptions(options: SqliteStoreOptions): void {
  requireOptions('sqliteStore', options ?? {}, OPTIONS)
  const { path, database, table } = options ?? {}
  if ((path === undefined) === (database === undefined)) {
    throw invalidOption("sqliteStore() needs a file or an open database: sqliteStore({ path: 'sessmgr.db' })")
  }
  if (path !== undefined && (typeof path !== 'string' || path === '')) {
    throw invalidOption('"path" must be the path of a file')
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
