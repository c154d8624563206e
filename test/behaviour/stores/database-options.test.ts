import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, Pool } from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import type { SessmgrStore } from '../../../src/index.ts'
import { postgresStore } from '../../../src/postgres.ts'
import { sqliteStore } from '../../../src/sqlite.ts'
import { SqliteDriver } from '../../../src/stores/sqlite-store.ts'
import { MemoryRows } from '../../support/memory-driver.ts'
import { ownFolder } from '../../support/own-folder.ts'
import { SQLITE_ENGINES } from '../../support/sqlite-engines.ts'

const pool = new Pool()
const driver = new MemoryRows().driver()

it('stores in a database refuse at construction what they cannot use, and name the cure', () => {
  const refused: readonly [string, () => unknown, string][] = [
    ['a pool in place of the options', () => postgresStore(pool as never), 'postgresStore({ pool })'],
    ['no pool', () => postgresStore({} as never), '"pool" is missing'],
    ['no options', () => postgresStore(undefined as never), '"pool" is missing'],
    [
      'a client of a pool',
      () => postgresStore({ pool: Object.assign(new Pool(), { release() {} }) }),
      'Pass the pool itself',
    ],
    ['a client of its own', () => postgresStore({ pool: new Client() }), 'Pass the pool itself'],
    [
      'an address',
      () => postgresStore({ connectionString: 'postgres://x' } as never),
      'new Pool({ connectionString })',
    ],
    ['a mistyped option', () => postgresStore({ pool, tabel: 'x' } as never), 'Did you mean "table"?'],
    ['a name that PostgreSQL cuts off', () => postgresStore({ pool, table: 'x'.repeat(51) }), 'at most 50 letters'],
    ['a table that is no name', () => postgresStore({ pool, table: 'x; DROP TABLE users' }), '"table" must be'],
    ['createTable: "yes"', () => postgresStore({ pool, createTable: 'yes' as never }), '"createTable" must be'],
    ['its usual name', () => postgresStore({ pool, createTableIfMissing: true } as never), 'you mean "createTable"?'],
    ['that of a table', () => postgresStore({ pool, tableName: 'x' } as never), 'postgresStore() has no option "table'],
    ['that of a table', () => postgresStore({ pool, tableName: 'x' } as never), 'Did you mean "table"?'],
    ['prepare that is no boolean', () => postgresStore({ pool, prepare: 1 as never }), '"prepare" must be'],
    ['a short deadline', () => postgresStore({ pool, deadlineMs: 1 }), '"deadlineMs" must be a whole number'],
    ['neither file nor database', () => sqliteStore({}), 'needs a file'],
    ['an empty path', () => sqliteStore({ path: '' }), '"path" must be'],
    ['both', () => sqliteStore({ path: 'x', database: {} as never }), 'needs a file'],
    ['a database that is none', () => sqliteStore({ database: {} as never }), '"database.exec" must be a function'],
    ['a driver without a method', () => documentStore({ ...driver, purge: undefined } as never), '"driver.purge"'],
    ['an unknown option', () => documentStore(driver, { deadline: 1 } as never), 'Did you mean "deadlineMs"?'],
  ]
  for (const [what, make, sentence] of refused) {
    const error = { code: 'invalid_option', message: expect.stringContaining(sentence) }
    expect(make, what).toThrow(expect.objectContaining(error))
  }
})

describe.each(Object.entries(SQLITE_ENGINES))('sqliteStore on %s', (_, Database) => {
  /** What the operator reads of a call that fails. */
  const reason = async (store: SessmgrStore) => {
    const error = await store.epoch.advance().catch((it) => it)
    expect(error).toMatchObject({ code: 'store_unavailable', status: 503 })
    return (error as { cause: Error }).cause.message
  }

  it('takes any table name, and leaves a database that it was given open', async () => {
    const database = new Database(':memory:')
    for (const table of ['order', 'Group', 'x'.repeat(50)]) {
      const store = sqliteStore({ database, table })
      await store.epoch.advance()
      await store.close()
      expect((await sqliteStore({ database, table }).epoch.current()).generation, table).toBeGreaterThan(0)
    }
    database.close()
  })

  it('says what to do about a table, a database or a disk that it cannot use', async () => {
    const advice: Readonly<Record<string, string>> = {
      'CREATE TABLE sessmgr (id text PRIMARY KEY, name text)': 'cannot use this table',
      'CREATE TABLE sessmgr (id text, revision text, body text, expires_at integer)': 'cannot use this table',
      'PRAGMA query_only = ON': 'writable for this process',
      'PRAGMA max_page_count = 1': 'Free some space',
    }
    for (const [sql, words] of Object.entries(advice)) {
      const database = new Database(':memory:')
      database.exec(sql)
      expect(await reason(sqliteStore({ database })), sql).toContain(words)
      database.close()
    }
    const store = sqliteStore({ path: '/dev/null/none.db' })
    await expect(store.epoch.current()).rejects.toMatchObject({ code: 'store_unavailable', status: 503 })
    await store.close()
  })

  it.each(['', '-wal', '-shm'])(
    'serves nobody once its %s file was deleted, or replaced, and says so',
    async (suffix) => {
      const directory = ownFolder()
      const path = join(directory, 'sessmgr.db')
      const options = { local: false, table: 'sessmgr', file: path, clock: undefined, owned: true }
      // As an application with this package would have it.
      const driver = new SqliteDriver(() => new Database(path), options)
      await driver.open()
      const store = documentStore(driver)
      expect((await store.epoch.advance())?.generation).toBeGreaterThan(0)
      rmSync(path + suffix)
      vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1001)
      const cure = suffix === '' ? 'Put it back, or restart' : 'Restart'
      expect(await reason(store)).toContain(`${suffix} of sqliteStore() was deleted or replaced while in use. ${cure}`)
      writeFileSync(path + suffix, '')
      expect(await reason(store)).toContain(`was deleted or replaced while in use. ${cure}`)
      vi.restoreAllMocks()
      await store.close()
    },
  )

  it('says what to do about a table that was dropped', async () => {
    const database = new Database(':memory:')
    const store = sqliteStore({ database })
    expect((await store.epoch.advance())?.generation).toBeGreaterThan(0)
    database.exec('DROP TABLE sessmgr')
    expect(await reason(store)).toContain('Restart the app, which creates the table')
    database.close()
  })

  it('knows a database in memory, which ends with its process', () => {
    expect(sqliteStore({ path: ':memory:' })).toMatchObject({ local: true })
    const database = new Database(':memory:')
    const store = sqliteStore({ database })
    database.close()
    expect(store.local).toBe(true)
  })
})
