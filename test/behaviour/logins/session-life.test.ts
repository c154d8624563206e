import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest'
import { ExampleApp } from '../../support/example-app.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { checkLives, EACH_FRAMEWORK, livesOf } from '../../support/life-hosts.ts'
import { memoryLives, postgresLives, redisLives } from '../../support/life-stores.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts'
import { useRedis } from '../../support/use-redis.ts'

const redis = useRedis()
let postgres: PostgresServer
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres?.stop())

const HOUR = 60 * 60_000
const DAY = 24 * HOUR

test.each([1, 2, 13, 14, 15, 400])('rule 66: %d days, set after passport.authenticate, are in Redis', async (days) => {
  const lives = { usual: null, after: days * DAY }
  for (const { store, registry } of await livesOf('Express', redisLives(redis.client), lives, true)) {
    for (const life of [store, registry]) expect(Math.round((life ?? 0) / HOUR)).toBe(days * 24)
  }
})

test('rule 66: null, set after a usual life of 14 days, is a browser cookie with the life of the store', async () => {
  const lives = { usual: 14 * DAY, after: null }
  const [login] = await livesOf('Express', redisLives(redis.client), lives, true)
  expect(login?.cookie).toBeNull()
  for (const life of [login?.store, login?.registry]) expect(Math.round((life ?? 0) / HOUR)).toBe(24)
})

test('rule 66: a shorter life that the store has of its own wins, in the registry too', async () => {
  const stores = redisLives(redis.client, { ttl: () => 3600 })
  const all = await livesOf('Express', stores, { usual: 14 * DAY }, true)
  for (const { store, registry } of all)
    for (const life of [store, registry]) expect(Math.round((life ?? 0) / HOUR)).toBe(1)
})

test('rule 66: the example keeps sessions for 14 days in Redis with Remember Me, and for 2 without', async () => {
  const example = await ExampleApp.start({ REDIS_URL: redis.server.url })
  onTestFinished(() => example.stop())
  for (const [form, days] of [
    [{ remember: '1' }, 14],
    [{}, 2],
  ] as const) {
    const browser = example.browser()
    await example.login(browser, 'alice', form)
    expect(await browser.me()).toBe(200)
    const [key = ''] = await redis.client.keys(`*sess:${browser.sessionId()}`)
    expect(Math.round((await redis.client.pTTL(key)) / HOUR)).toBe(days * 24)
  }
})

test('rule 67: sessmgr_session_started has the whole life that a session starts with', async () => {
  const { limiter, browser } = await startExpressHost({ session: { cookie: { maxAge: 14 * DAY } } })
  const ends: number[] = []
  limiter.hooks.addAction('sessmgr_session_started', 'test', ({ createdAt, expiresAt }) => {
    ends.push(Math.round((expiresAt - createdAt) / HOUR))
  })
  await browser().login('alice')
  expect(ends).toEqual([14 * 24])
})

describe.each(EACH_FRAMEWORK)('rule 66: a session has the life that the application gives it, by %s', (framework) => {
  it('in memory', () => checkLives(framework, memoryLives(), 6))

  it('in Redis', () => checkLives(framework, redisLives(redis.client), 6))

  it('in PostgreSQL', () => checkLives(framework, postgresLives(postgres.pool()), 4))
})
