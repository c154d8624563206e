import { describe, expect, test } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import type { HostSetup, StartHost } from '../../support/host-under-test.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { findUser } from '../../support/users.ts'
import { BLOCK } from './suite-tools.ts'

const NAME = 'sessmgr_device'
const ALICE = findUser('alice')
const PUBLIC = 'public, max-age=300'

/**
 * Applications with `/forget`; `/fail`, which logs alice in and then fails; `/callback`, which logs her in with a page for
 * shared caches; and `/cached`, another such page.
 */
const hosts = {
  Express: (setup: HostSetup) =>
    startExpressHost({
      ...setup,
      further({ app, limiter }) {
        app.post('/forget', (_request, response, next) => {
          limiter.forgetDevice(response).then(() => response.end('forgotten'), next)
        })
        app.post('/fail', (request, _response, next) => {
          limiter.login(request, ALICE).then(() => next(new Error('after the login')), next)
        })
        app.get('/callback', (request, response, next) => {
          response.set('Cache-Control', PUBLIC)
          limiter.login(request, ALICE).then(() => response.end('signed in'), next)
        })
        app.get('/cached', (_request, response) => void response.set('Cache-Control', PUBLIC).end('cached'))
      },
    }),
  Fastify: (setup: HostSetup) =>
    startFastifyHost({
      ...setup,
      fastify: { trustProxy: true },
      further({ app, limiter }) {
        app.post('/forget', async (_request, reply) => {
          await limiter.forgetDevice(reply)
          return 'forgotten'
        })
        app.post('/fail', async (request) => {
          await limiter.login(request, ALICE)
          throw new Error('after the login')
        })
        app.get('/callback', async (request, reply) => {
          reply.header('Cache-Control', PUBLIC)
          await limiter.login(request, ALICE)
          return 'signed in'
        })
        app.get('/cached', async (_request, reply) => reply.header('Cache-Control', PUBLIC).send('cached'))
      },
    }),
  Koa: (setup: HostSetup) =>
    startKoaHost({
      ...setup,
      further: ({ limiter }) => ({
        'POST /forget': async (ctx) => {
          await limiter.forgetDevice(ctx)
          ctx.body = 'forgotten'
        },
        'POST /fail': async (ctx) => {
          await limiter.login(ctx, ALICE)
          throw new Error('after the login')
        },
        'GET /callback': async (ctx) => {
          ctx.set('Cache-Control', PUBLIC)
          await limiter.login(ctx, ALICE)
          ctx.body = 'signed in'
        },
        'GET /cached': (ctx) => {
          ctx.set('Cache-Control', PUBLIC)
          ctx.body = 'cached'
        },
      }),
    }),
}

/** Loses the session's cookie, as a browser that was closed does. */
function dropSession({ cookies }: Browser): void {
  for (const name of cookies.keys()) if (!name.endsWith(NAME)) cookies.delete(name)
}

const deviceIn = ({ cookies }: Browser) => cookies.get(NAME)?.value

const setDevices = (setCookies: readonly string[]) => setCookies.filter((cookie) => cookie.includes(`${NAME}=`))

const COOKIE = /^sessmgr_device=[\w-]{22}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax$/

const startWith = (startHost: StartHost, setup: HostSetup = {}) =>
  startHost({ sessions: new JsonSessions(), ...setup, sessmgr: { settings: BLOCK, device: true, ...setup.sessmgr } })

describe.each(Object.entries(hosts))('the device cookie on %s', (name, startHost) => {
  const start = (setup?: HostSetup) => startWith(startHost, setup)

  test('rule 7: gives a browser its own place back, by every way, and leaves none to another', async () => {
    const host = await start()
    const browser = host.browser()
    const [first] = setDevices((await browser.login('alice')).setCookies)
    expect(first).toMatch(COOKIE)
    for (const path of ['/login', '/direct-login', '/login']) {
      dropSession(browser)
      const { status, setCookies } = await browser.login('alice', {}, path)
      expect([status, setDevices(setCookies), await host.limiter.sessions.count(2)], path).toEqual([200, [first], 1])
    }
    expect([await browser.me(), host.sessions.ids().length]).toEqual([200, 1])
    const [record] = await host.limiter.sessions.list(2)
    expect(record?.device).toMatch(/^[\w-]{16}$/)
    expect(deviceIn(browser)).not.toContain(record?.device)
    const other = host.browser()
    expect([(await other.login('alice')).status, deviceIn(other)]).toEqual([403, undefined])
    expect(host.actions).toEqual([['sessmgr_login_blocked', 2]])
  })

  test('rule 58: comes with the next other response if that to the login is for shared caches', async () => {
    const host = await start()
    const browser = host.browser()
    for (const path of ['/callback', '/cached']) {
      expect(setDevices((await browser.get(path)).setCookies), path).toEqual([])
    }
    const { setCookies, headers } = await browser.get('/')
    expect(setDevices(setCookies)).toEqual([expect.stringMatching(COOKIE)])
    expect(headers.get('cache-control')).toBe('private')
    expect(setDevices((await browser.get('/')).setCookies)).toEqual([])
    dropSession(browser)
    expect((await browser.login('alice')).status).toBe(200)
  })

  test('rule 58: does not come later to a browser that was to be forgotten, or that has logged in again', async () => {
    const host = await start()
    const browser = host.browser()
    await browser.get('/callback')
    expect((await browser.post('/forget')).text).toBe('forgotten')
    expect(setDevices((await browser.get('/')).setCookies)).toEqual([])
    expect((await browser.get('/state')).json()).toMatchObject({ session: { userId: 2 } })

    await browser.get('/callback')
    expect(setDevices((await browser.login('alice')).setCookies)).toHaveLength(1)
    expect(setDevices((await browser.get('/')).setCookies)).toEqual([])
    await browser.post('/forget')
    expect(deviceIn(browser)).toBeUndefined()
  })

  test('is set although the application fails after the login', async () => {
    const host = await start()
    const browser = host.browser()
    expect((await browser.post('/fail')).status).toBe(500)
    expect(deviceIn(browser)).toBeDefined()
    dropSession(browser)
    expect((await browser.login('alice')).status).toBe(200)
  })

  // Koa answers no request over plain HTTP with secure cookies.
  if (name === 'Koa') return
  test('belongs to the host alone over HTTPS, whatever is planted under the other name', async () => {
    const proxy = name === 'Express' ? { proxy: true } : {}
    const host = await start({ session: { ...proxy, cookie: { secure: true } } })
    const browser = host.browser()
    const https = { 'x-forwarded-proto': 'https' }
    const { setCookies } = await browser.login('alice', https)
    const cookie = /^__Host-sessmgr_device=[\w-]{22}; Max-Age=34560000; Path=\/; HttpOnly; Secure; SameSite=Lax$/
    expect(setDevices(setCookies)).toEqual([expect.stringMatching(cookie)])
    const thief = host.browser()
    thief.cookies.set(NAME, browser.cookies.get(`__Host-${NAME}`) as { value: string; path: string })
    expect((await thief.login('alice', https)).status).toBe(403)
    dropSession(browser)
    expect((await browser.login('alice', https)).status).toBe(200)
  })
})

describe('the device cookie', () => {
  const start = (setup?: HostSetup) => startWith(hosts.Express, setup)

  test('is not set for visitors, and not without the option', async () => {
    const visitor = (await start()).browser()
    await visitor.get('/')
    await visitor.post('/cart', { item: 'tea' })
    expect((await visitor.login('nobody')).status).not.toBe(200)
    expect(deviceIn(visitor)).toBeUndefined()

    const without = await start({ sessmgr: { device: undefined } })
    const browser = without.browser()
    expect((await browser.login('alice')).status).toBe(200)
    expect(deviceIn(browser)).toBeUndefined()
    expect((await without.limiter.sessions.list(2))[0]?.device).toBeNull()
  })

  test('keeps the sessions of two users in one browser', async () => {
    const host = await start()
    const browser = host.browser()
    for (const login of ['alice', 'bob', 'alice', 'bob']) {
      dropSession(browser)
      expect((await browser.login(login)).status).toBe(200)
    }
    const [[alice], [bob]] = [await host.limiter.sessions.list(2), await host.limiter.sessions.list(3)]
    expect(host.sessions.ids()).toHaveLength(2)
    expect(alice?.device).not.toBe(bob?.device)
  })

  test('is ignored and replaced if it is malformed', async () => {
    // Too long, of another alphabet, encoded, of bits that no value has, and empty.
    const malformed = ['A'.repeat(4096), 'ünïcödé-of-22-letters!', '%22%3B%0D%0A', `${'A'.repeat(21)}B`, '']
    for (const text of malformed) {
      const host = await start()
      const planted = { value: Buffer.from(text).toString('latin1'), path: '/' }
      const [browser, other] = [host.browser(), host.browser()]
      browser.cookies.set(NAME, planted)
      other.cookies.set(NAME, planted)
      expect((await browser.login('alice')).status, text).toBe(200)
      expect(deviceIn(browser), text).toMatch(/^[\w-]{21}[AQgw]$/)
      expect((await other.login('alice')).status, text).toBe(403)
    }
  })

  test('admits all parallel logins of one browser, and leaves one session', async () => {
    const host = await start()
    const browser = host.browser()
    await browser.login('alice')
    dropSession(browser)
    const tabs = Array.from({ length: 12 }, () => browser.copy())
    const answers = await Promise.all(tabs.map((tab) => tab.login('alice')))
    expect(answers.map(({ status }) => status)).toEqual(tabs.map(() => 200))
    const live = await Promise.all(tabs.map((tab) => tab.me()))
    expect(live.filter((status) => status === 200)).toHaveLength(1)
    expect([await host.limiter.sessions.count(2), host.sessions.ids().length]).toEqual([1, 1])
  })
})
