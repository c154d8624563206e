import { expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'
import { checkLives, EACH_FRAMEWORK, livesOf } from '../../support/life-hosts.ts'
import { memoryLives, redisLives } from '../../support/life-stores.ts'
import { useRedis } from '../../support/use-redis.ts'

const redis = useRedis()

const HOUR = 60 * 60_000
const DAY = 24 * HOUR

test.each([1, 400])('rule 66: %d days, set after passport.authenticate, are in Redis', async (days) => {
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

test('rule 67: sessmgr_session_started has the whole life that a session starts with', async () => {
  const { limiter, browser } = await startExpressHost({ session: { cookie: { maxAge: 14 * DAY } } })
  const ends: number[] = []
  limiter.hooks.addAction('sessmgr_session_started', 'test', ({ createdAt, expiresAt }) => {
    ends.push(Math.round((expiresAt - createdAt) / HOUR))
  })
  await browser().login('alice')
  expect(ends).toEqual([14 * 24])
})

// `npm run campaign` asks every store, PostgreSQL too, by many more lives.
test.each(EACH_FRAMEWORK)('rule 66: a session has the life that the application gives it, by %s', (framework) =>
  checkLives(framework, memoryLives(), 5),
)

test.each(['Express', 'Koa'] as const)('rule 66: a session has that life in Redis, too, by %s', (framework) =>
  checkLives(framework, redisLives(redis.client), 3),
)
