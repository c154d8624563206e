import { describe, expect, test } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import { type ExpressSetup, startExpressHost } from '../../support/express-host.ts'

const HOUR = 60 * 60_000
const DAY = 24 * HOUR

/** An application whose sessions expire by a clock that the test moves; its session store keeps them all. */
async function signedInFor(cookie: NonNullable<ExpressSetup['session']>['cookie']) {
  const clock = fakeClock()
  const settings = { maximum: 1, logic: 'block' } as const
  // Uses come in one moment of real time, so none of them may be left out.
  const sessmgr = { settings, store: memoryStore({ clock }), touchEvery: 0 }
  const host = await startExpressHost({ session: { cookie }, sessmgr })
  const laptop = await host.signedIn('alice')
  // The login itself holds a slot for two minutes; the request after it gives the session its full time.
  return { clock, host, laptop }
}

describe.each([
  ['an age in its cookie', { maxAge: HOUR }, HOUR],
  ['a cookie that ends with the browser, for 14 days', {}, 14 * DAY],
] as const)('a session with %s that was not used', (_name, cookie, life) => {
  test('decision 71: is refused, and the application is told so as long as its cookie comes', async () => {
    const { clock, host, laptop } = await signedInFor(cookie)
    const id = laptop.sessionId() ?? ''
    clock.advance(life + 1000)
    expect(host.store.read(id)).toBeDefined()
    for (let request = 0; request < 2; request++) {
      const answer = await laptop.get('/state')
      expect(answer.json()).toMatchObject({ ended: { reason: 'ended' } })
      expect(answer.setCookies).toEqual([])
      expect(host.store.read(id)).toBeUndefined()
      expect(await laptop.me()).toBe(401)
    }
    expect(laptop.sessionId()).toBe(id)
    expect(await host.limiter.sessions.count(2)).toBe(0)
    expect((await host.browser().login('alice')).status).toBe(200)
  })

  test('is good until then, and holds its place in mode block', async () => {
    const { clock, host, laptop } = await signedInFor(cookie)
    clock.advance(life - 60_000)
    expect((await host.browser().login('alice')).status).toBe(403)
    expect(await laptop.me()).toBe(200)
  })
})

test('a copy of the cookie that is used does not expire with the age of the cookie', async () => {
  const { clock, host, laptop } = await signedInFor({ maxAge: DAY })
  const thief = laptop.copy()
  for (let halfDay = 0; halfDay < 10; halfDay++) {
    clock.advance(DAY / 2)
    expect(await thief.me()).toBe(200)
  }
  expect(await host.limiter.sessions.count(2)).toBe(1)
})
