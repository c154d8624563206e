import { createRequire } from 'node:module'
import type { SqliteDatabase } from '../../src/sqlite.ts'

type DatabaseClass = new (path: string) => SqliteDatabase

const require = createRequire(import.meta.url)

/**
 * Every installed package that opens a SQLite file: always libsql, and `node:sqlite` on versions of Node that have it.
 */
export const SQLITE_ENGINES: Readonly<Record<string, DatabaseClass>> = {
  libsql: require('libsql'),
  ...optional('better-sqlite3', () => require('better-sqlite3')),
  ...optional('node:sqlite', () => require('node:sqlite').DatabaseSync),
}

function optional(name: string, load: () => DatabaseClass): Record<string, DatabaseClass> {
  try {
    return { [name]: load() }
  } catch {
    return {}
  }
}
