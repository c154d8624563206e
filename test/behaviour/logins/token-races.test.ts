import { describe, expect, it } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import { redisStore } from '../../../src/redis.ts'
import { MemoryRows } from '../../support/memory-driver.ts'
import { ENDS, raceRefreshes } from '../../support/race-refreshes.ts'
import { useRedis } from '../../support/use-redis.ts'

describe('a refresh that races the end of its session', () => {
  const db = useRedis()
  for (const kind of Object.keys(ENDS)) {
    it(`brings nothing back: ${kind}`, async () => {
      const rows = new MemoryRows()
      const open = () => redisStore({ client: db.client })
      expect((await raceRefreshes(open, kind, 10)).live).toBe(0)
      expect((await raceRefreshes(() => documentStore(rows.driver()), kind, 10)).live).toBe(0)
    })
  }
})
