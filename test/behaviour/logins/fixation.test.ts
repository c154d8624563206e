import { describe, expect, test } from 'vitest'
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
async function plant({ browser, sessionIdOf, stored }: Target, login: (victim: Browser) => Promise<unknown>) {
  const attacker = browser()
  await attacker.post('/cart', { item: 'tea' })
  const planted = sessionIdOf(attacker)
  expect(stored(planted)).toMatchObject({ cart: ['tea'] })
  const victim = attacker.copy()
  await login(victim)
  return { attacker, victim, planted }
}

async function expectFutile(target: Target, login: (victim: Browser) => Promise<unknown>): Promise<void> {
  const { attacker, victim, planted } = await plant(target, login)
  const fresh = target.sessionIdOf(victim)
  expect(fresh).toBeTypeOf('string')
  expect(fresh).not.toBe(planted)
  expect(target.stored(planted)).toBeUndefined()
  expect([await victim.me(), await attacker.me()]).toEqual([200, 401])

  // Whatever he does with it, it does not come back.
  await attacker.post('/cart', { item: 'more tea' })
  expect(await attacker.me()).toBe(401)
  expect(target.stored(planted)).toBeUndefined()
  expect(await victim.me()).toBe(200)
}

describe.each(LOGIN_SETUPS)('Express $express, sessmgr $order passport.session(), login by $way', (setup) => {
  test('a session id that somebody has planted is good for nothing after the login', async () => {
    const { browser, store } = await startExpressHost(setup)
    const target = { browser, sessionIdOf: (it: Browser) => it.sessionId(), stored: (id = '') => store.read(id) }
    await expectFutile(target, (victim) => victim.login('alice'))
  })
})

describe.each(['plain', 'logIn', 'login'] as const)('keepSessionInfo by %s', (way) => {
  test('keeps what the planted session held, and not its id', async () => {
    const { browser, store } = await startExpressHost({ way, authenticate: { keepSessionInfo: true } })
    const target = { browser, sessionIdOf: (it: Browser) => it.sessionId(), stored: (id = '') => store.read(id) }
    await expectFutile(target, async (victim) => {
      await victim.login('alice')
      expect((await victim.get('/cart')).json()).toEqual(['tea'])
    })
  })
})

const hosts = { Fastify: startFastifyHost, Koa: startKoaHost }
const paths = Object.entries(hosts).flatMap(([name, start]) => LOGIN_PATHS.map((path) => ({ name, path, start })))

describe.each(paths)('$name, login by $path', ({ path, start }) => {
  test.each(['before', 'after'] as const)(
    'with sessmgr %s Passport a planted session id is good for nothing',
    async (order) => {
      const { browser, sessionIdOf, sessions } = await start({ sessions: new JsonSessions(), order })
      const target = { browser, sessionIdOf, stored: (id?: string) => sessions.read(id) }
      await expectFutile(target, (victim) => victim.login('alice', {}, path))
    },
  )
})
