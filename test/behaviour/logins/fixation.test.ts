import { expect, test } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { LOGIN_SETUPS } from '../../support/express-logins.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { LOGIN_PATHS } from '../hosts/suite-tools.ts'

/** An application, as far as somebody needs it who wants another to log in with a session id that he knows. */
interface Target {
  browser(): Browser
  sessionIdOf(browser: Browser): string | undefined
  stored(sessionId: string | undefined): unknown
}

/** Lets somebody plant the id of a session of his in a browser whose owner then logs in. */
async function expectFutile(what: string, target: Target, login: (victim: Browser) => Promise<unknown>): Promise<void> {
  const { browser, sessionIdOf, stored } = target
  const attacker = browser()
  await attacker.post('/cart', { item: 'tea' })
  const planted = sessionIdOf(attacker)
  expect(stored(planted), what).toMatchObject({ cart: ['tea'] })
  const victim = attacker.copy()
  await login(victim)
  const fresh = sessionIdOf(victim)
  expect(fresh, what).toBeTypeOf('string')
  expect(fresh, what).not.toBe(planted)
  expect(stored(planted), what).toBeUndefined()
  expect([what, await victim.me(), await attacker.me()]).toEqual([what, 200, 401])

  // Whatever he does with it, it does not come back.
  await attacker.post('/cart', { item: 'more tea' })
  expect([what, await attacker.me(), await victim.me()]).toEqual([what, 401, 200])
  expect(stored(planted), what).toBeUndefined()
}

test.each(['before', 'after'] as const)(
  'Express with sessmgr %s passport.session(): a planted session id is good for nothing after the login',
  async (order) => {
    for (const setup of LOGIN_SETUPS.filter((each) => each.order === order)) {
      const { browser, store } = await startExpressHost(setup)
      const target = { browser, sessionIdOf: (it: Browser) => it.sessionId(), stored: (id = '') => store.read(id) }
      await expectFutile(`Express ${setup.express}, ${setup.way}`, target, (victim) => victim.login('alice'))
    }
  },
)

test.each(['plain', 'logIn'] as const)('keepSessionInfo by %s keeps what the planted session held', async (way) => {
  const { browser, store } = await startExpressHost({ way, authenticate: { keepSessionInfo: true } })
  const target = { browser, sessionIdOf: (it: Browser) => it.sessionId(), stored: (id = '') => store.read(id) }
  await expectFutile(way, target, async (victim) => {
    await victim.login('alice')
    expect((await victim.get('/cart')).json()).toEqual(['tea'])
  })
})

test.each([
  ['Fastify', startFastifyHost],
  ['Koa', startKoaHost],
])('%s: a planted session id is good for nothing, by every way to log in', async (_name, start) => {
  for (const order of ['before', 'after'] as const) {
    const { browser, sessionIdOf, sessions } = await start({ sessions: new JsonSessions(), order })
    const target = { browser, sessionIdOf, stored: (id?: string) => sessions.read(id) }
    for (const path of LOGIN_PATHS) {
      await expectFutile(`${path}, sessmgr ${order} Passport`, target, (victim) => victim.login('alice', {}, path))
    }
  }
})
