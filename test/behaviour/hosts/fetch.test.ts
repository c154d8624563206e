import { expect, test } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import { memoryStore, type SessmgrStore } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { useRedis } from '../../support/use-redis.ts'
import { startFetchApp as start } from './fetch-app.ts'

const redis = useRedis()

test('these tests run in the runtime that was asked for', () => {
  const { Bun, Deno } = globalThis as { Bun?: object; Deno?: object }
  expect(Bun ? 'bun' : Deno ? 'deno' : 'node').toBe(process.env.RUNTIME ?? 'node')
})

test.each<[string, () => SessmgrStore]>([
  ['memory', () => memoryStore()],
  ['Redis', () => redisStore({ client: redis.client, deadlineMs: 30_000 })],
])('rule 5: of twenty logins at once over %s, each mode leaves exactly the limit', async (_name, store) => {
  for (const logic of ['logout_oldest', 'block']) {
    const { limiter, logIn, live } = start({ store: store(), settings: { maximum: 2, logic } })
    await limiter.sessions.endAll('ada')
    const cookies = await Promise.all(Array.from({ length: 20 }, logIn))
    expect([await live(cookies), await limiter.sessions.count('ada')], logic).toEqual([2, 2])
  }
})

test('explicit calls beside the door keep the same limit', async () => {
  const { limiter, sessions, stores, logIn, live } = start({ settings: { maximum: 1, logic: 'logout_oldest' } })
  const calls = explicitCalls(limiter, stores)
  const cookie = await logIn()
  await calls.login({ userId: 'ada' }, async () => {
    sessions.set('explicit', 'ada')
    return { sessionId: 'explicit', ttlMs: 3_600_000 }
  })
  expect([await live([cookie]), await live(['sid=explicit'])]).toEqual([0, 1])
})
