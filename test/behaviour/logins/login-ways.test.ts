import { describe, expect, test } from 'vitest'
import { SessmgrError } from '../../../src/index.ts'
import { type ExpressSetup, startExpressHost } from '../../support/express-host.ts'
import { LOGIN_SETUPS, LOGIN_WAYS, type LoginWay } from '../../support/express-logins.ts'

const JSON_CLIENT = { accept: 'application/json' }
const BLOCK = { maximum: 1, logic: 'block' } as const

const handled = { status: 403, location: null, body: { handledByApplication: true, code: 'login_limit_reached' } }
const REFUSED: Record<LoginWay, unknown> = {
  redirect: { status: 302, location: '/login', body: null },
  plain: handled,
  callback: { status: 403, location: null, body: { givenToCallback: 'login_limit_reached' } },
  logIn: handled,
  login: handled,
  limiter: handled,
}

const shown = (answer: { status: number; location: string | null; json(): unknown }) => ({
  status: answer.status,
  location: answer.location,
  body: answer.status === 302 ? null : answer.json(),
})

describe.each(LOGIN_SETUPS)('Express $express, sessmgr $order passport.session(), login by $way', (setup) => {
  test('counts, is refused at the limit as its way tells, frees the slot by a logout, and displaces', async () => {
    const host = await startExpressHost({ ...setup, settings: { ...BLOCK, idle_release: 3600 } })
    const [laptop, phone, tablet] = [host.browser(), host.browser(), host.browser()]
    expect((await laptop.login('alice')).status).toBe(setup.way === 'redirect' ? 302 : 200)
    expect([await host.limiter.sessions.count(2), await laptop.me()]).toEqual([1, 200])

    const refused = await phone.login('alice')
    expect(shown(refused)).toEqual(REFUSED[setup.way])
    expect(refused.setCookies).toEqual([])
    expect(host.store.ids()).toEqual([laptop.sessionId()])
    expect([await laptop.me(), await phone.me()]).toEqual([200, 401])
    expect(host.actions.splice(0)).toEqual([['sessmgr_login_blocked', 2]])
    if (REFUSED[setup.way] === handled) {
      expect(host.errors).toEqual([expect.any(SessmgrError)])
      const properties = { code: 'login_limit_reached', status: 403, statusCode: 403, expose: true }
      expect(host.errors[0]).toMatchObject(properties)
    } else expect(host.errors).toEqual([])

    expect((await laptop.post('/logout')).status).toBe(204)
    expect([await host.limiter.sessions.count(2), await laptop.me()]).toEqual([0, 401])
    await phone.login('alice')
    expect([await phone.me(), host.actions]).toEqual([200, []])

    await host.limiter.settings.update({ logic: 'allow' })
    await tablet.login('alice')
    expect([await phone.me(), await tablet.me(), await host.limiter.sessions.count(2)]).toEqual([401, 200, 1])
    expect(host.actions).toEqual([['sessmgr_destroy_all_sessions', 2]])
    expect(host.logs).toEqual([])
  })
})

/** An application in block mode whose only slot for alice is taken. */
async function fullHost(options: ExpressSetup) {
  const host = await startExpressHost({ ...options, settings: BLOCK })
  await host.signedIn('alice')
  return host
}

describe.each([5, 4] as const)('a client of Express %i that asks for JSON', (express) => {
  test('is refused with 403 in the one error shape, where Passport answers', async () => {
    for (const way of ['redirect', 'plain'] as const) {
      const host = await fullHost({ express, way })
      const answer = await host.browser().login('alice', JSON_CLIENT)
      expect([way, answer.status, answer.headers.get('cache-control')]).toEqual([way, 403, 'no-store'])
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
      expect(answer.json()).toEqual({
        code: 'login_limit_reached',
        message:
          "You've reached the limit of devices signed in to this account. Sign out on one of them and try again.",
        data: { status: 403 },
      })
      expect([answer.setCookies, host.errors]).toEqual([[], []])
    }
  })

  test('is answered by the application after its own call, and with failWithError by its error handler', async () => {
    for (const way of LOGIN_WAYS.slice(2)) {
      const host = await fullHost({ express, way })
      expect([way, shown(await host.browser().login('alice', JSON_CLIENT))]).toEqual([way, REFUSED[way]])
    }
    const host = await fullHost({ express, authenticate: { failWithError: true } })
    expect(shown(await host.browser().login('alice', JSON_CLIENT))).toEqual(handled)
  })
})

test('without an error handler Express answers 403 and escapes the message', async () => {
  const host = await fullHost({ way: 'plain', expressErrors: true })
  host.limiter.hooks.addFilter('sessmgr_error_message', 'test', () => '<b>Too many</b> devices')
  const answer = await host.browser().login('alice')
  expect(answer.status).toBe(403)
  expect(answer.text).toContain('&lt;b&gt;Too many&lt;/b&gt; devices')
  expect(answer.text).not.toContain('<b>')
})

test('a login with session: false does not count', async () => {
  const host = await startExpressHost({ authenticate: { session: false }, settings: BLOCK })
  for (let login = 0; login < 2; login++) {
    const answer = await host.browser().login('alice')
    expect([answer.status, answer.setCookies]).toEqual([200, []])
  }
  expect([await host.limiter.sessions.count(2), host.actions]).toEqual([0, []])
})

const keeping = [
  { order: 'before', way: 'plain' },
  { order: 'after', way: 'logIn' },
] as const

test.each(keeping)('keepSessionInfo by $way, sessmgr $order passport.session()', async (setup) => {
  const host = await startExpressHost({ ...setup, authenticate: { keepSessionInfo: true }, settings: BLOCK })
  const cartOf = async (browser: typeof laptop) => (await browser.get('/cart')).json()
  const [laptop, visitor] = [host.browser(), host.browser()]
  // What the visitor had is kept, and the login counts.
  await laptop.post('/cart', { item: 'tea' })
  await laptop.login('alice')
  expect([await cartOf(laptop), await laptop.me(), await host.limiter.sessions.count(2)]).toEqual([['tea'], 200, 1])
  // The application is told of a refusal, and the visitor keeps the cart.
  await visitor.post('/cart', { item: 'hat' })
  expect((await visitor.login('alice')).json()).toEqual(handled.body)
  expect([await cartOf(visitor), await visitor.me()]).toEqual([['hat'], 401])
  // A login of the same user again stays alive.
  expect((await laptop.login('alice')).status).toBe(200)
  expect([await laptop.me(), await host.limiter.sessions.count(2)]).toEqual([200, 1])
  // Nothing of the old registration comes into the session of another user.
  expect((await laptop.login('bob')).status).toBe(200)
  expect((await laptop.get('/me')).json()).toEqual({ id: 3 })
  expect([await host.limiter.sessions.count(2), await host.limiter.sessions.count(3)]).toEqual([0, 1])
  expect((await host.browser().login('bob')).status).toBe(403)
  // A logout may keep what the user had, too.
  expect((await laptop.post('/logout?keep=session+info')).status).toBe(204)
  expect([await host.limiter.sessions.count(3), await cartOf(laptop), await laptop.me()]).toEqual([0, ['tea'], 401])
  expect((await laptop.get('/state')).json()).toEqual({})
})
