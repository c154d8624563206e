import { expect } from 'vitest'
import type { Answer } from './browser.ts'
import { startExpressHost } from './express-host.ts'
import { startFastifyHost } from './fastify-host.ts'
import type { StartHost } from './host-under-test.ts'
import { JsonSessions } from './json-sessions.ts'
import { startKoaHost } from './koa-host.ts'

/** How many guests there are, and how many logins rush in. */
export const COUNT = 12
/** The frameworks, each with a session store that can be disturbed. */
export const BUSY_HOSTS: Record<string, StartHost> = {
  Express: (setup) => startExpressHost({ ...setup, sessions: new JsonSessions() }),
  Fastify: startFastifyHost,
  Koa: startKoaHost,
}

/** An application with guests who have a cart, and Bob, who only browses. */
export async function startCrowd(start: StartHost) {
  const host = await start({ sessmgr: { settings: { maximum: 2, logic: 'logout_oldest' } } })
  const guests = Array.from({ length: COUNT }, () => host.browser())
  for (const guest of guests) await guest.post('/cart', { item: 'tea' })
  const bystander = host.browser()
  expect((await bystander.login('bob')).status).toBeLessThan(400)

  /** Lets everybody do something at once. */
  const rush = () => ({
    logins: Promise.all(Array.from({ length: COUNT }, () => host.browser().login('alice'))),
    carts: Promise.all(guests.map((guest) => guest.get('/cart'))),
    browsing: Promise.all(Array.from({ length: 3 }, () => bystander.get('/me'))),
  })
  /** Nothing is left of what went on: guests have their carts, Bob his session, and Alice at most two. */
  async function expectAsBefore() {
    const carts = await Promise.all(guests.map(async (guest) => (await guest.get('/cart')).json()))
    expect(carts).toEqual(guests.map(() => ['tea']))
    expect(await bystander.me()).toBe(200)
    const [first, second] = [host.browser(), host.browser()]
    for (const browser of [first, second]) expect((await browser.login('alice')).status).toBeLessThan(400)
    expect([await first.me(), await second.me(), await host.limiter.sessions.count(2)]).toEqual([200, 200, 2])
  }
  return { host, guests, bystander, rush, expectAsBefore }
}

/** Expects that nobody was refused. */
export async function expectServed(rushed: Record<string, Promise<readonly Answer[]>>): Promise<void> {
  const answers = (await Promise.all(Object.values(rushed))).flat()
  const refused = answers.filter(({ status }) => status >= 400)
  expect(refused.map(({ status, text }) => `${status} ${text}`)).toEqual([])
}
