import { createRequire } from 'node:module'
import knex, { type Knex } from 'knex'
import type { SqliteDatabase } from '../../src/sqlite.ts'

const require = createRequire(import.meta.url)
const BetterSqlite3 = require('knex/lib/dialects/better-sqlite3/index.js') as typeof Knex.Client

/** Opens a SQLite file with Knex, through a package with the API of better-sqlite3. */
export function knexOnSqlite(filename: string, Database: new (path: string) => SqliteDatabase): Knex {
  const client = class extends BetterSqlite3 {
    _driver() {
      return Database
    }
  }
  return knex({ client, connection: { filename }, useNullAsDefault: true })
}
