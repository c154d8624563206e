import { describe, expect, it } from 'vitest'
import { createPostgresTable, type PostgresPool, postgresDriver } from '../../../src/stores/postgres-store.ts'

/** A pool whose statements lose to others a number of times, as where SERIALIZABLE is the default. */
function losingPool(times: number, code = '40001') {
  let calls = 0
  const query = async () => {
    calls += 1
    if (calls <= times) throw Object.assign(new Error('could not serialize access'), { code })
    return { rows: [{ now: '1000', id: null }] }
  }
  return { query, calls: () => calls }
}

describe('the driver of PostgreSQL', () => {
  it('repeats a read or a purge that lost to another statement', async () => {
    expect((await postgresDriver(losingPool(3), 'sessmgr').get(['a'])).now).toBe(1000)
    expect(await postgresDriver(losingPool(3), 'sessmgr').purge(10)).toBe(1)
  })

  it('gives up after a few attempts, and at once for another error', async () => {
    const always = losingPool(100)
    await expect(postgresDriver(always, 'sessmgr').get(['a'])).rejects.toMatchObject({ code: '40001' })
    const missing = losingPool(100, '42P01')
    await expect(postgresDriver(missing, 'sessmgr').get(['a'])).rejects.toMatchObject({ code: '42P01' })
    expect([always.calls(), missing.calls()]).toEqual([5, 1])
  })

  it('leaves a write that lost to the caller', async () => {
    const pool = losingPool(1)
    expect(await postgresDriver(pool, 'sessmgr').swap('a', 'one', { revision: 'two', text: '' }, undefined)).toBe(false)
    expect(pool.calls()).toBe(1)
  })

  it('creates a table that another process creates too', async () => {
    for (const code of ['23505', '42710', '42P07']) {
      const pool = losingPool(1, code)
      await createPostgresTable(pool, 'sessmgr')
      expect(pool.calls(), code).toBe(2)
    }
    await expect(createPostgresTable(losingPool(1, '42501'), 'sessmgr')).rejects.toMatchObject({ code: '42501' })
  })

  it('runs a statement once more, unprepared, when it is not prepared any more', async () => {
    for (const code of ['26000', '42P05', '0A000']) {
      const { pool, asked } = preparingPool(code)
      const driver = postgresDriver(pool, 'sessmgr', true)
      for (const _ of [1, 2]) expect((await driver.get(['a'])).now, code).toBe(1000)
      const [first, second, third] = asked
      expect([first?.name, second, third?.name]).toEqual([
        expect.stringMatching(/^sessmgr_\w{32}_0$/),
        { text: first?.text, values: [['a']] },
        `${first?.name?.slice(0, -1)}1`,
      ])
    }
  })

  it('prepares no statement that never stays prepared, and repeats none for another error', async () => {
    const poorer = preparingPool('26000', Number.POSITIVE_INFINITY)
    const driver = postgresDriver(poorer.pool, 'sessmgr', true)
    for (let n = 0; n < 20; n++) await driver.get(['a'])
    expect(poorer.asked.filter(({ name }) => name !== undefined)).toHaveLength(10)
    const missing = preparingPool('42P01')
    await expect(postgresDriver(missing.pool, 'sessmgr', true).get(['a'])).rejects.toMatchObject({ code: '42P01' })
    expect(missing.asked).toHaveLength(1)
  })

  it('gives one new name for the failures of several connections, and different ones for different statements', async () => {
    const { pool, asked } = preparingPool('0A000', 3)
    const driver = postgresDriver(pool, 'sessmgr', true)
    await Promise.all([
      driver.get(['a']),
      driver.get(['b']),
      driver.swap('c', 'one', { revision: 'two', text: '' }, undefined),
    ])
    await driver.get(['a'])
    expect(asked.at(-1)?.name).toMatch(/_1$/)
    expect(new Set(asked.slice(0, 3).map(({ name }) => name)).size).toBe(2)
  })
})

interface Asked {
  readonly name?: string
  readonly text: string
  readonly values: unknown
}

/** A pool whose first prepared statements fail, and the statements that it was asked to run. */
function preparingPool(code: string, failures = 1) {
  const asked: Asked[] = []
  let failed = 0
  const query = async (statement: string | Asked, values?: unknown[]) => {
    const one = typeof statement === 'string' ? { text: statement, values } : statement
    asked.push(one)
    if (one.name !== undefined && failed++ < failures) throw Object.assign(new Error('no such statement'), { code })
    return { rows: [{ now: '1000', id: null }] }
  }
  return { pool: { query } as PostgresPool, asked }
}
