import { expect, it } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import { redisStore } from '../../../src/redis.ts'
import { MemoryRows } from '../../support/memory-driver.ts'
import { ENDS, raceRefreshes } from '../../support/race-refreshes.ts'
import { useRedis } from '../../support/use-redis.ts'

const db = useRedis()

it('a refresh that races the end of its session brings nothing back, whatever the end', async () => {
  const everybody = 'a site-wide logout'
  const race = async (kind: string) => {
    const rows = new MemoryRows()
    const stores = { Redis: () => redisStore({ client: db.client }), rows: () => documentStore(rows.driver()) }
    for (const [where, open] of Object.entries(stores)) {
      expect([kind, where, (await raceRefreshes(open, kind, 5)).live]).toEqual([kind, where, 0])
    }
  }
  await Promise.all(Object.keys(ENDS).map((kind) => kind === everybody || race(kind)))
  await race(everybody)
})
