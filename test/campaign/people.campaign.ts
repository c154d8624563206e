import { createClient } from 'redis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { documentStore } from '../../src/document.ts'
import { memoryStore, type SessmgrStore } from '../../src/index.ts'
import { redisStore } from '../../src/redis.ts'
import type { PeopleIndex } from '../../src/sessions/people-index.ts'
import { MOST_PEOPLE, totalOf } from '../../src/sessions/people-index.ts'
import { MemoryRows } from '../support/memory-driver.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const MORE = MOST_PEOPLE + 20_000

let server: RedisServer
let client: ReturnType<typeof createClient>

beforeAll(async () => {
  server = await startRedis()
  client = createClient({ url: server.url })
  await client.connect()
})
afterAll(async () => {
  client.destroy()
  await server.stop()
})

const STORES: Readonly<Record<string, () => SessmgrStore>> = {
  memory: memoryStore,
  Redis: () => redisStore({ client, tracking: false }),
  'rows of a database': () => documentStore(new MemoryRows().driver()),
}

it.each(Object.keys(STORES))('the index in %s keeps 100,000 people, the latest, and lists each once', async (name) => {
  const people = STORES[name]?.().people as PeopleIndex
  for (let first = 0; first < MORE; first += 10_000) {
    await people.note(
      Array.from({ length: 10_000 }, (_, n) => ({ userId: first + n, at: first + n + 1, live: 1 + (n % 3) })),
    )
  }
  const { people: count, sessions } = totalOf(await people.count())
  // Rows are not filled evenly, so some people leave a little early.
  expect(count).toBeGreaterThan(0.97 * MOST_PEOPLE)
  expect(count).toBeLessThanOrEqual(MOST_PEOPLE)
  const seen = new Set<unknown>()
  let listed = 0
  let cursor: string | undefined
  do {
    const page = await people.page({ sort: 'most', limit: 500, cursor })
    for (const { userId, live } of page.people) {
      seen.add(userId)
      listed += live
    }
    cursor = page.next
  } while (cursor !== undefined)
  expect(seen.size).toBe(count)
  expect(listed).toBe(sessions)
  const latest = Array.from({ length: 50_000 }, (_, n) => MORE - 1 - n)
  expect(latest.every((userId) => seen.has(userId))).toBe(true)
  await people.clear(MORE)
  expect(totalOf(await people.count()).people).toBe(1)
})
