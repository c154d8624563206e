import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { redisStore } from '../../../src/redis.ts'
import { deferred } from '../../support/deferred.ts'
import { createLimiterWorld, SimpleHost } from '../../support/limiter-world.ts'
import { useRedis } from '../../support/use-redis.ts'

const db = useRedis()
const NOTHING_ELSE = {
  recordedNames: async () => [],
  forgetEvents: async () => 0,
  forgetPasswords: async () => 0,
  forgetInMemory: () => {},
}
const client = { ip: null, userAgent: null }

function erasing() {
  const store = redisStore({ client: db.client, deadlineMs: 100 })
  const host = new SimpleHost()
  const world = createLimiterWorld({ store, host })
  return { ...world, host, quiet: () => sleep(store.sessions.quietMs + 20) }
}

it('rule 77: right after an erasure, a login gets 503 before anything is changed, and then it is a new user', async () => {
  const { login, limiter, host, quiet } = erasing()
  await login('bob')
  await limiter.erase(NOTHING_ELSE, 'bob')
  await expect(login('bob')).rejects.toMatchObject({ code: 'store_unavailable', status: 503 })
  expect(host.ids.size).toBe(0)
  await quiet()
  expect(await db.client.keys('*{bob}*')).toEqual([])
  const next = await login('bob')
  expect([...host.ids]).toEqual([next])
})

it.each([
  ['ends during the quiet time', 0, 'store_unavailable'],
  ['outlasts it', 2, 'session_ended'],
])('rule 77: a login that begins before an erasure and %s is refused', async (_, periods, code) => {
  const { login, live, limiter, host, quiet } = erasing()
  const held = deferred()
  const late = limiter.admit({ userId: 'bob', ...client }, () => held.promise.then(() => host.establish()))
  const refused = expect(late).rejects.toMatchObject({ code })
  await sleep(20)
  await limiter.erase(NOTHING_ELSE, 'bob')
  for (let period = 0; period < periods; period++) await quiet()
  held.resolve()
  await refused
  expect([await live('bob'), host.ids.size]).toEqual([[], 0])
  await quiet()
  const next = await login('bob')
  expect(await live('bob')).toEqual([next])
})
