import { describe, expect, it } from 'vitest'
import { createPostgresTable, postgresDriver } from '../../../src/stores/postgres-store.ts'

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
    expect(await postgresDriver(pool, 'sessmgr').swap('a', 1, '', undefined)).toBe(false)
    expect(pool.calls()).toBe(1)
  })

  it.each(['23505', '42710', '42P07'])('creates a table that another process creates too: error %s', async (code) => {
    const pool = losingPool(1, code)
    await createPostgresTable(pool, 'sessmgr')
    expect(pool.calls()).toBe(2)
    await expect(createPostgresTable(losingPool(1, '42501'), 'sessmgr')).rejects.toMatchObject({ code: '42501' })
  })
})
