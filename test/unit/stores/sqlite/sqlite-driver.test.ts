import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../../../src/sqlite.ts'
import { SQLITE_ENGINES } from '../../../support/sqlite-engines.ts'

describe.each(Object.entries(SQLITE_ENGINES))('the driver of SQLite on %s', (_, Database) => {
  const database = new Database(':memory:')
  const isKnown = 'inTransaction' in database || 'isTransaction' in database

  it.runIf(isKnown)('waits for the end of a transaction of the application, which may be rolled back', async () => {
    const store = sqliteStore({ database })
    expect(await store.epoch.current()).toBe(0)
    database.exec('BEGIN')
    const advancing = store.epoch.advance()
    for (let turn = 0; turn < 10; turn++) await setImmediate()
    database.exec('ROLLBACK')
    await advancing
    expect(await store.epoch.current()).toBe(1)
    database.close()
  })
})
