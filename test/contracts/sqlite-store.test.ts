import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { sqliteStore } from '../../src/sqlite.ts'
import { SqliteDriver } from '../../src/stores/sqlite-store.ts'
import { fakeClock, registerDocumentDriverContract } from '../../src/testing.ts'
import { SQLITE_ENGINES } from '../support/sqlite-engines.ts'
import { registerStoreContract } from './store/store-contract.ts'

/** Opens one file of its own any number of times, as further processes would. */
function useFile(Database: (typeof SQLITE_ENGINES)[string]) {
  const directory = mkdtempSync(join(tmpdir(), 'sessmgr-sqlite-'))
  const opened: { close(): unknown }[] = []
  return {
    clock: fakeClock(),
    open() {
      const database = new Database(join(directory, 'sessmgr.db'))
      opened.push(database)
      return database
    },
    async close() {
      for (const database of opened) database.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

for (const [name, Database] of Object.entries(SQLITE_ENGINES)) {
  describe(`the driver contract on ${name}`, () => {
    registerDocumentDriverContract({
      describe,
      it,
      async create() {
        const { open, clock, close } = useFile(Database)
        const another = async () => {
          const driver = new SqliteDriver(open, { local: false, table: 'sessmgr', clock, owned: false })
          await driver.open()
          return driver
        }
        return { driver: await another(), another, pass: async (ms) => clock.advance(ms), close }
      },
    })
  })

  describe(`the store contract on ${name}`, () => {
    registerStoreContract({
      describe,
      it,
      async create() {
        const { open, clock, close } = useFile(Database)
        const another = async () => sqliteStore({ database: open(), clock })
        return {
          store: await another(),
          another,
          pass: async (ms) => clock.advance(ms),
          rewind: async (ms) => clock.advance(-ms),
          close,
        }
      },
    })
  })
}
