import type { Express } from 'express'
import { describe, expect, test } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import type { Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { type LifeStores, memoryLives, redisLives } from '../../support/life-stores.ts'
import { useRedis } from '../../support/use-redis.ts'
import { findUser } from '../../support/users.ts'

const redis = useRedis()

const ALICE = 2
const JUST_OVER_TEN_SECONDS = 11_000

const LIVES: Record<string, object> = {
  'an invalid date': { expires: new Date('soon') },
  'a maxAge of NaN': { maxAge: Number.NaN },
  'an endless maxAge': { maxAge: Number.POSITIVE_INFINITY },
}
const STORES: Record<string, () => LifeStores> = { memory: memoryLives, Redis: () => redisLives(redis.client) }
const cases = [
  { life: 'an invalid date', where: 'Redis' },
  { life: 'a maxAge of NaN', where: 'memory' },
  { life: 'an endless maxAge', where: 'Redis' },
]

/** Sends a request. express-session reports an invalid date after the head, so the answer may be cut. */
const send = (browser: Browser, path: string) => browser.post(path).catch(() => undefined)

describe.each(cases)('rule 66: $life as the life of a session in $where', ({ life, where }) => {
  async function start(unlimited = false) {
    const clock = fakeClock(Date.now())
    const stores = (STORES[where] as () => LifeStores)()
    const host = await startExpressHost({
      unlimited,
      store: stores.forCallbacks('Express'),
      sessmgr: { store: memoryStore({ clock }), settings: { maximum: 1, logic: 'block' } },
      further: ({ app }: { app: Express }) => {
        app.post('/odd-login', (req, res, next) => {
          req.logIn(findUser('alice') as Express.User, (error) => {
            if (error) return next(error)
            Object.assign(req.session.cookie, LIVES[life])
            res.json({})
          })
        })
        app.post('/odd', (req, res) => {
          Object.assign(req.session.cookie, LIVES[life])
          res.json({})
        })
        app.post('/odd-write', (req, res) => {
          Object.assign(req.session, { odd: true })
          Object.assign(req.session.cookie, LIVES[life])
          res.json({})
        })
      },
    })
    return { ...host, clock }
  }

  test('gives a login no cookie, and its slot to the next one of the same browser', async () => {
    const { browser, limiter, clock } = await start()
    const headers = { 'user-agent': 'Mozilla/5.0' }
    const answer = await browser()
      .post('/odd-login', {}, { ...headers, connection: 'close' })
      .catch(() => undefined)
    expect(answer?.setCookies ?? []).toEqual([])
    clock.advance(JUST_OVER_TEN_SECONDS)
    expect((await browser().login('alice', headers)).status).toBe(200)
    expect(await limiter.sessions.count(ALICE)).toBe(1)
  })

  test('set later leaves the session where express-session leaves it, whether it is written or touched', async () => {
    for (const path of ['/odd', '/odd-write']) {
      const statuses: number[] = []
      for (const unlimited of [true, false]) {
        const { signedIn, limiter } = await start(unlimited)
        const browser = await signedIn('alice')
        await send(browser, path)
        statuses.push(await browser.me())
        if (!unlimited) expect(await limiter.sessions.count(ALICE), path).toBe(statuses[0] === 200 ? 1 : 0)
      }
      expect(statuses[1], path).toBe(statuses[0])
    }
  })
})
