import { describe, expect, test } from 'vitest'
import { SessmgrError } from '../../../src/index.ts'
import { type ExpressSetup, startExpressHost } from '../../support/express-host.ts'
import { LOGIN_SETUPS, type LoginWay } from '../../support/express-logins.ts'

const JSON_CLIENT = { accept: 'application/json' }

describe.each(LOGIN_SETUPS)('Express $express, sessmgr $order passport.session(), login by $way', (setup) => {
  test('a login counts: the second one displaces the first', async () => {
    const host = await startExpressHost({ ...setup, settings: { maximum: 1, logic: 'allow' } })
    const [laptop, phone] = [host.browser(), host.browser()]

    const answer = await laptop.login('alice')
    expect(answer.status).toBe(setup.way === 'redirect' ? 302 : 200)
    expect(await host.limiter.sessions.count(2)).toBe(1)
    expect(await laptop.me()).toBe(200)

    await phone.login('alice')
    expect(await host.limiter.sessions.count(2)).toBe(1)
    expect([await laptop.me(), await phone.me()]).toEqual([401, 200])
    expect(host.actions).toEqual([['sessmgr_destroy_all_sessions', 2]])
  })

  test('a login that the limit refuses gets no session, and the way of logging in is told', async () => {
    const host = await startExpressHost({ ...setup, settings: { maximum: 1, logic: 'block' } })
    const laptop = await host.signedIn('alice')
    const phone = host.browser()

    const answer = await phone.login('alice')
    expect({ status: answer.status, location: answer.location, body: bodyOf(answer) }).toEqual(REFUSED[setup.way])
    expect(answer.setCookies).toEqual([])
    expect(host.store.ids()).toEqual([laptop.sessionId()])
    expect([await laptop.me(), await phone.me()]).toEqual([200, 401])
    expect(host.actions).toEqual([['sessmgr_login_blocked', 2]])
  })

  test('logging out frees the slot, and the next login is admitted', async () => {
    const host = await startExpressHost({ ...setup, settings: { maximum: 1, logic: 'block' } })
    const laptop = await host.signedIn('alice')
    expect((await laptop.post('/logout')).status).toBe(204)
    expect(await host.limiter.sessions.count(2)).toBe(0)
    await host.signedIn('alice')
    expect(host.actions).toEqual([])
  })
})

const handled = { status: 403, location: null, body: { handledByApplication: true, code: 'login_limit_reached' } }
const REFUSED: Record<LoginWay, unknown> = {
  redirect: { status: 302, location: '/login', body: null },
  plain: handled,
  callback: { status: 403, location: null, body: { givenToCallback: 'login_limit_reached' } },
  logIn: handled,
  login: handled,
  limiter: handled,
}

function bodyOf(answer: { status: number; json(): unknown }): unknown {
  return answer.status === 302 ? null : answer.json()
}

/** An application in block mode whose only slot for alice is taken. */
async function fullHost(options: ExpressSetup) {
  const host = await startExpressHost({ ...options, settings: { maximum: 1, logic: 'block' } })
  await host.signedIn('alice')
  return host
}

describe.each([5, 4] as const)('a client of Express %i that asks for JSON', (express) => {
  test.each(['redirect', 'plain'] as const)('is refused by %s with 403 in the one error shape', async (way) => {
    const host = await fullHost({ express, way })
    const phone = host.browser()
    const answer = await phone.login('alice', JSON_CLIENT)
    expect(answer.status).toBe(403)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.json()).toEqual({
      code: 'login_limit_reached',
      message: "You've reached the limit of devices signed in to this account. Sign out on one of them and try again.",
      data: { status: 403 },
    })
    expect(answer.setCookies).toEqual([])
    expect(host.errors).toEqual([])
  })

  test.each(['callback', 'logIn', 'login', 'limiter'] as const)(
    'is answered by the application after %s',
    async (way) => {
      const host = await fullHost({ express, way })
      const answer = await host.browser().login('alice', JSON_CLIENT)
      expect({ status: answer.status, location: null, body: answer.json() }).toEqual(REFUSED[way])
    },
  )

  test('gets the error handler with failWithError', async () => {
    const host = await fullHost({ express, authenticate: { failWithError: true } })
    const answer = await host.browser().login('alice', JSON_CLIENT)
    expect({ status: answer.status, location: null, body: answer.json() }).toEqual(handled)
  })
})

test.each(['plain', 'logIn', 'login', 'limiter'] as const)(
  'the error that %s hands on is a SessmgrError',
  async (way) => {
    const host = await fullHost({ way })
    await host.browser().login('alice')
    expect(host.errors).toHaveLength(1)
    expect(host.errors[0]).toBeInstanceOf(SessmgrError)
    expect(host.errors[0]).toMatchObject({ code: 'login_limit_reached', status: 403, statusCode: 403, expose: true })
  },
)

test('without an error handler Express answers 403 and escapes the message', async () => {
  const host = await fullHost({ way: 'plain', expressErrors: true })
  host.limiter.hooks.addFilter('sessmgr_error_message', 'test', () => '<b>Too many</b> devices')
  const answer = await host.browser().login('alice')
  expect(answer.status).toBe(403)
  expect(answer.text).toContain('&lt;b&gt;Too many&lt;/b&gt; devices')
  expect(answer.text).not.toContain('<b>')
})

test.each([5, 4] as const)('a login with session: false does not count in Express %i', async (express) => {
  const host = await startExpressHost({ express, authenticate: { session: false }, settings: { logic: 'block' } })
  for (let login = 0; login < 3; login++) {
    const answer = await host.browser().login('alice')
    expect(answer.status).toBe(200)
    expect(answer.setCookies).toEqual([])
  }
  expect(await host.limiter.sessions.count(2)).toBe(0)
  expect(host.actions).toEqual([])
})

const keeping = [
  ...(['plain', 'logIn', 'login'] as const).map((way) => ({ order: 'before' as const, way })),
  { order: 'after' as const, way: 'logIn' as const },
]

describe.each(keeping)('keepSessionInfo by $way, sessmgr $order passport.session()', (setup) => {
  test('keeps what the visitor had, and the login counts', async () => {
    const host = await startExpressHost({ ...setup, authenticate: { keepSessionInfo: true } })
    const [laptop, phone] = [host.browser(), host.browser()]
    await laptop.post('/cart', { item: 'tea' })
    await laptop.login('alice')
    expect((await laptop.get('/cart')).json()).toEqual(['tea'])
    await phone.login('alice')
    expect([await laptop.me(), await phone.me()]).toEqual([401, 200])
    expect(await host.limiter.sessions.count(2)).toBe(1)
  })

  test('carries nothing of the old registration into the session of another user', async () => {
    const host = await startExpressHost({
      ...setup,
      authenticate: { keepSessionInfo: true },
      settings: { logic: 'block' },
    })
    const browser = await host.signedIn('alice')
    expect((await browser.login('bob')).status).toBe(200)
    expect((await browser.get('/me')).json()).toEqual({ id: 3 })
    expect(await host.limiter.sessions.count(2)).toBe(0)
    expect(await host.limiter.sessions.count(3)).toBe(1)
    expect((await host.browser().login('bob')).status).toBe(403)
    expect((await host.browser().login('alice')).status).toBe(200)
  })

  test('keeps what the user had when they log out', async () => {
    const host = await startExpressHost(setup)
    const browser = await host.signedIn('alice')
    await browser.post('/cart', { item: 'tea' })
    expect((await browser.post('/logout?keep=session+info')).status).toBe(204)
    expect(await host.limiter.sessions.count(2)).toBe(0)
    expect((await browser.get('/cart')).json()).toEqual(['tea'])
    expect((await browser.get('/state')).json()).toEqual({})
    expect(await browser.me()).toBe(401)
  })

  test('keeps a re-login of the same user alive', async () => {
    const host = await startExpressHost({
      ...setup,
      authenticate: { keepSessionInfo: true },
      settings: { logic: 'block' },
    })
    const browser = await host.signedIn('alice')
    expect((await browser.login('alice')).status).toBe(200)
    expect(await browser.me()).toBe(200)
    expect(await host.limiter.sessions.count(2)).toBe(1)
  })

  test('does not hide from the application that a login was refused', async () => {
    const host = await startExpressHost({
      ...setup,
      authenticate: { keepSessionInfo: true },
      settings: { logic: 'block' },
    })
    await host.signedIn('alice')
    const visitor = host.browser()
    await visitor.post('/cart', { item: 'tea' })
    expect((await visitor.login('alice')).json()).toEqual(handled.body)
    expect((await visitor.get('/cart')).json()).toEqual(['tea'])
    expect(await visitor.me()).toBe(401)
  })
})
