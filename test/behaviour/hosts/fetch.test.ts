import { describe, expect, test } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import { memoryStore, type SessmgrStore } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { useRedis } from '../../support/use-redis.ts'
import { SITE, startFetchApp as start } from './fetch-app.ts'

const redis = useRedis()
const STORES: Record<string, () => SessmgrStore> = {
  memory: () => memoryStore(),
  Redis: () => redisStore({ client: redis.client, deadlineMs: 30_000 }),
}
test('these tests run in the runtime that was asked for', () => {
  const { Bun, Deno } = globalThis as { Bun?: object; Deno?: object }
  expect(Bun ? 'bun' : Deno ? 'deno' : 'node').toBe(process.env.RUNTIME ?? 'node')
})

describe.each(Object.keys(STORES))('with the store %s', (name) => {
  test.each(['logout_oldest', 'block', 'allow'])(
    'of twenty logins at once, mode %s admits exactly the limit',
    async (logic) => {
      const maximum = logic === 'allow' ? 1 : 2
      const { limiter, logIn, live } = start({ store: STORES[name]?.(), settings: { maximum, logic } })
      const cookies = await Promise.all(Array.from({ length: 20 }, logIn))
      expect([await live(cookies), await limiter.sessions.count('ada')]).toEqual([maximum, maximum])
    },
  )

  test('a user ends another session on the page', async () => {
    const { send, logIn, live } = start({ store: STORES[name]?.(), settings: { maximum: 3 } })
    const [one, two] = [await logIn(), await logIn()]
    const text = await (await send('/devices', one)).text()
    const [, proof = ''] = /name="proof" value="([^"]+)"/.exec(text) ?? []
    const [, end = ''] = /name="end" value="(\w+)"/.exec(text) ?? []
    const post = (origin: string) => {
      const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' }
      return send('/devices', one, { method: 'POST', headers, body: new URLSearchParams({ proof, end }).toString() })
    }
    expect([(await post('https://evil.test')).status, await live([one, two])]).toEqual([403, 2])
    expect([(await post(SITE)).status, await live([one]), await live([two])]).toEqual([303, 1, 0])
  })
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
