import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sqliteStore } from '../../../src/sqlite.ts'
import { SqliteDriver } from '../../../src/stores/sqlite-store.ts'
import { SQLITE_ENGINES } from '../../support/sqlite-engines.ts'

/** A driver, and another connection, of one file. */
async function twoConnections(Database: (typeof SQLITE_ENGINES)[string]) {
  const directory = mkdtempSync(join(tmpdir(), 'sessmgr-sqlite-'))
  const path = join(directory, 'sessmgr.db')
  const [database, other] = [new Database(path), new Database(path)]
  onTestFinished(() => {
    database.close()
    other.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const options = { local: false, table: 'sessmgr', clock: undefined, owned: false }
  const driver = new SqliteDriver(() => database, options)
  await driver.open()
  return { driver, other }
}

describe.each(Object.entries(SQLITE_ENGINES))('the driver of SQLite on %s', (_, Database) => {
  const database = new Database(':memory:')
  const isKnown = 'inTransaction' in database || 'isTransaction' in database

  it.runIf(isKnown)('waits for the end of a transaction of the application, which may be rolled back', async () => {
    const store = sqliteStore({ database })
    expect(await store.epoch.current()).toMatchObject({ generation: 0 })
    database.exec('BEGIN')
    const advancing = store.epoch.advance()
    for (let turn = 0; turn < 10; turn++) await setImmediate()
    database.exec('ROLLBACK')
    await advancing
    expect((await store.epoch.current()).generation).toBeGreaterThan(0)
    database.exec('BEGIN')
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 10_000))
    const kept = expect.stringMatching(/a transaction open .* its own database/)
    await expect(store.epoch.advance()).rejects.toHaveProperty('cause.message', kept)
    vi.restoreAllMocks()
    database.close()
  })

  it('postpones the expiry of a user a little, so that its index stays as it is, and of nothing else', async () => {
    const { driver, other } = await twoConnections(Database)
    const day = 86_400_000
    const expiryOf = (key: string) => {
      const rows = other.prepare('SELECT expires_at FROM sessmgr WHERE id = ?').all(key)
      return Number((rows as { expires_at: number }[])[0]?.expires_at)
    }
    for (const key of ['u:1', 't:1']) await driver.swap(key, undefined, { revision: 'old', text: 'old' }, day)
    const { now, rows } = await driver.get(['u:1'])
    const first = expiryOf('u:1')
    expect(first).toBeGreaterThan(now + day - 10_000)
    expect(first).toBeLessThan(now + day * 1.07)
    expect(expiryOf('t:1')).toBeLessThanOrEqual(now + day)
    await driver.swap('u:1', rows.get('u:1')?.revision, { revision: 'new', text: 'new' }, day + 1)
    expect(expiryOf('u:1')).toBe(first)
  })

  it('commits each write, also after one that found the file locked', async () => {
    const { driver, other } = await twoConnections(Database)
    expect(await driver.swap('kept', undefined, { revision: 'old', text: 'old' }, undefined)).toBe(true)
    other.exec('BEGIN IMMEDIATE')
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 10_000))
    await expect(driver.swap('new', undefined, { revision: '', text: '' }, undefined)).rejects.toThrow('locked')
    vi.restoreAllMocks()
    other.exec('COMMIT')
    const { rows } = await driver.get(['kept'])
    expect(
      await driver.swap('kept', rows.get('kept')?.revision, { revision: 'written', text: 'written' }, undefined),
    ).toBe(true)
    expect(other.prepare('SELECT body FROM sessmgr').all()).toEqual([expect.objectContaining({ body: 'written' })])
    other.exec("INSERT INTO sessmgr VALUES ('by another', 1, '', NULL)")
  })

  it('fails with an error, not with the process, once the application has closed the database', async () => {
    const database = new Database(':memory:')
    const { sessions } = sqliteStore({ database })
    await sessions.read(1)
    database.close()
    await expect(sessions.read(1)).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(sessions.end(1)).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})

it('names a missing folder at the start, which would only fail later', () => {
  const folder = join(tmpdir(), 'no-such-folder-of-sessmgr')
  expect(() => sqliteStore({ path: join(folder, 'sessmgr.db') })).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(`The folder ${folder} of`) }),
  )
  for (const path of [':memory:', 'file:/nowhere/else.db']) expect(() => sqliteStore({ path })).not.toThrow()
})
