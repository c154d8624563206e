import { describe, expect, it } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import { type SessmgrStore, tokenOf } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { fakeClock } from '../../../src/testing.ts'
import { IMPLEMENTATIONS, newSession } from '../../contracts/store/store-case.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { MemoryRows } from '../../support/memory-driver.ts'
import { RedisClock } from '../../support/redis-clock.ts'
import { useRedis } from '../../support/use-redis.ts'

const DAY = 86_400_000
const YEAR = 365 * DAY
const MINUTE = 60_000

const startHost = (store: SessmgrStore) => {
  const settings = { maximum: 1, logic: 'block' }
  return startExpressHost({ settings, session: { cookie: { maxAge: 10 * MINUTE } }, sessmgr: { store } })
}

describe("rule 87: a year's jump of the clock, and back,", () => {
  it('delays nobody in `block`, and lengthens no later session', async () => {
    const clock = fakeClock()
    const host = await startHost(documentStore(new MemoryRows(clock).driver(), { deadlineMs: 60_000 }))
    clock.advance(YEAR)
    await host.signedIn('alice')
    clock.advance(-YEAR)
    expect((await host.browser().login('alice')).status).not.toBe(200)
    clock.advance(11 * MINUTE)
    const second = await host.signedIn('alice')
    const [record] = await host.limiter.sessions.list(2)
    const now = clock.now()
    expect(record?.createdAt).toBe(now)
    expect(Math.round((Number(record?.expiresAt) - now) / MINUTE)).toBe(10)
    expect(await second.me()).toBe(200)
    clock.advance(11 * MINUTE)
    expect(await host.limiter.sessions.list(2)).toEqual([])
  })

  it.each(Object.entries(IMPLEMENTATIONS))(
    'keeps earlier sessions out no longer than without it, over %s',
    async (_, open) => {
      const { store, pass } = open()
      const { sessions } = store
      for (const id of ['one', 'other']) await sessions.adopt(7, newSession(id, YEAR))
      pass(YEAR)
      for (const id of ['first', 'second']) await sessions.adopt(7, newSession(id, YEAR))
      await sessions.end(7, [tokenOf('first')])
      await sessions.end(8)
      pass(-YEAR)
      await Promise.all([sessions.read(7), sessions.read(8)])
      pass(11 * MINUTE)
      expect(await sessions.adopt(7, newSession('first'))).toMatchObject({ isNew: true })
      expect(await sessions.adopt(8, newSession('third'))).toBeUndefined()
      pass(400 * DAY)
      expect(await sessions.adopt(8, newSession('third'))).toMatchObject({ isNew: true })
    },
  )
})

describe('a jump of the clock of Redis, and back', () => {
  const db = useRedis()

  it('delays nobody in `block`, lengthens no session, and lets nobody in', async () => {
    const clock = new RedisClock()
    const host = await startHost(redisStore({ client: clock.on(db.client), tracking: false }))
    const first = await host.signedIn('alice')
    await clock.pass(YEAR)
    // By the clock of the server, the first session has expired.
    const ahead = await host.signedIn('alice')
    clock.rewind(YEAR)
    expect((await host.browser().login('alice')).status).not.toBe(200)
    const lives = async () => (await host.limiter.sessions.list(2)).map(({ expiresAt }) => expiresAt - Date.now())
    expect((await lives()).map((ms) => Math.round(ms / MINUTE))).toEqual([10])
    expect([await first.me(), await ahead.me()]).toEqual([401, 200])
    await clock.pass(11 * MINUTE)
    expect((await host.browser().login('alice')).status).toBe(200)
    expect(await lives()).toHaveLength(1)
  })
})
