import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, SqliteDialect } from 'kysely'
import { describe, it } from 'vitest'
import { kyselyDriver } from '../../examples/drivers/kysely.mjs'
import { tableSchema } from '../../src/stores/document/table-schema.ts'
import { registerDocumentDriverContract } from '../../src/testing.ts'
import { SQLITE_ENGINES } from '../support/sqlite-engines.ts'

const Database = SQLITE_ENGINES.libsql as (typeof SQLITE_ENGINES)[string]

/** One of the drivers in examples/drivers. The campaign runs the others, which need more. */
describe('the driver contract on Kysely', () => {
  registerDocumentDriverContract({
    describe,
    it,
    async create() {
      const directory = mkdtempSync(join(tmpdir(), 'sessmgr-kysely-'))
      const opened: Kysely<unknown>[] = []
      const another = async () => {
        const database = new Database(join(directory, 'sessmgr.db'))
        database.exec('PRAGMA journal_mode = WAL')
        for (const statement of tableSchema('sqlite', 'sessmgr')) database.exec(statement)
        const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: database as never }) })
        opened.push(db)
        return kyselyDriver(db, 'sqlite')
      }
      const close = async () => {
        await Promise.all(opened.map((db) => db.destroy()))
        rmSync(directory, { recursive: true, force: true })
      }
      // The clock is SQLite's own.
      return { driver: await another(), another, pass: (ms) => sleep(ms + 20), close }
    },
  })
})
