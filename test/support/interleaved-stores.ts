import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { memoryStore } from '../../src/index.ts'
import { redisStore } from '../../src/redis.ts'
import { sqliteStore } from '../../src/sqlite.ts'
import { fakeClock } from '../../src/testing.ts'
import type { InterleavedStore } from './interleavings.ts'
import { RedisClock } from './redis-clock.ts'
import { useRedis } from './use-redis.ts'

/** The stores on which interleavings run: memory, Redis and SQLite. */
export function useInterleavedStores(): Record<string, () => InterleavedStore> {
  const redis = useRedis()
  const directory = mkdtempSync(join(tmpdir(), 'sessmgr-interleavings-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  return {
    memory() {
      const clock = fakeClock()
      const store = memoryStore({ clock })
      return { open: () => store, pass: (ms) => clock.advance(ms) }
    },
    Redis() {
      const clock = new RedisClock()
      // A store estimates the time of Redis for a minute, so only a new store notices that the clock was set forward.
      return { open: () => redisStore({ client: clock.on(redis.client) }), pass: (ms) => clock.pass(ms) }
    },
    SQLite() {
      const clock = fakeClock()
      const path = join(directory, 'sessmgr.db')
      const stores = Array.from({ length: 4 }, () => sqliteStore({ path, clock }))
      return { open: (process) => stores[process] as (typeof stores)[0], pass: (ms) => clock.advance(ms) }
    },
  }
}
