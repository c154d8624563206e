import { describe, expect, test } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { loggedIn } from '../../support/browser.ts'
import { type FastifySetup, startFastifyHost } from '../../support/fastify-host.ts'
import { FORTNIGHT } from '../../support/host-under-test.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { loseRace } from '../../support/lose-race.ts'
import { findUserById } from '../../support/users.ts'
import { BLOCK } from './suite-tools.ts'

const start = ({ sessmgr, ...setup }: FastifySetup = {}) =>
  startFastifyHost({ sessmgr: { settings: BLOCK, ...sessmgr }, ...setup })

const alice = findUserById(2) as Express.User

describe('a session that a request reloads', () => {
  const further: FastifySetup['further'] = ({ app, gates }) => {
    app.post('/reload-and-rotate', async (request) => {
      await request.session.reload()
      request.session.set('cart' as never, 'book' as never)
      await gates.at('reloaded').pass()
      await request.session.regenerate(['passport' as never, 'cart' as never])
      return { cart: request.session.get('cart' as never) }
    })
    app.post('/reload-at-last', async (request) => {
      await gates.at('last').pass()
      await new Promise((resolve, reject) => request.session.reload((error) => (error ? reject(error) : resolve(0))))
      return { state: request.sessmgr, id: request.session.sessionId }
    })
    app.post('/try-to-reload', async (request) => {
      await gates.at('last').pass()
      const { status } = (await request.session.reload().catch((error) => error)) as { status?: number }
      return { status, passport: request.session.get('passport' as never) }
    })
    app.post('/reload-and-login', async (request) => {
      await request.session.reload()
      await request.logIn(alice)
      return request.sessmgr
    })
  }

  test('carries neither its user nor its data over into another when it ends after that', async () => {
    const host = await start({ further })
    const browser = await loggedIn(host, 'alice')
    const rotating = browser.post('/reload-and-rotate')
    await host.gates.at('reloaded').arrived
    await host.limiter.sessions.endAll(2)
    host.gates.at('reloaded').open()
    expect((await rotating).json()).toEqual({})
    expect([await browser.me(), await host.limiter.sessions.count(2)]).toEqual([401, 0])
  })

  test('is told to be over when it is, and gives way to another', async () => {
    const host = await start({ further })
    const browser = await loggedIn(host, 'alice')
    const dead = host.sessionIdOf(browser)
    const reloading = browser.post('/reload-at-last')
    await host.gates.at('last').arrived
    await host.limiter.sessions.logoutAllUsers()
    host.gates.at('last').open()
    const { state, id } = (await reloading).json()
    expect(state).toMatchObject({ ended: { reason: 'logout_all' } })
    expect(id).not.toBe(dead)
    expect(host.sessionIdOf(browser)).toBeUndefined()
  })

  test('goes on when it is not over', async () => {
    const host = await start({ further })
    host.gates.at('last').open()
    const browser = await loggedIn(host, 'alice')
    const id = host.sessionIdOf(browser)
    expect((await browser.post('/reload-at-last')).json()).toMatchObject({ state: { session: { userId: 2 } }, id })
    expect((await browser.post('/reload-and-login')).json()).toMatchObject({ session: { userId: 2 } })
    expect([await browser.me(), await host.limiter.sessions.count(2)]).toEqual([200, 1])
  })

  test('stays the one of the request when the store is down', async () => {
    const host = await start({ further })
    const browser = await loggedIn(host, 'alice')
    const before = (await browser.get('/state')).json()
    const reloading = browser.post('/try-to-reload')
    await host.gates.at('last').arrived
    host.sessions.failure = new Error('down')
    host.gates.at('last').open()
    expect((await reloading).json()).toEqual({ status: 503, passport: 2 })
    host.sessions.failure = undefined
    expect((await browser.get('/state')).json()).toEqual(before)
    expect(await browser.me()).toBe(200)
  })

  test('rule 11: is left as it was by a login that loses a race', async () => {
    const shared = { further, sessions: new JsonSessions(), sessmgr: { store: memoryStore() } }
    const [here, there] = [await start(shared), await start(shared)]
    const visitor = here.browser()
    await visitor.post('/cart', { item: 'tea' })
    const [{ status }] = await loseRace(
      here,
      () => visitor.post('/reload-and-login'),
      () => there.browser().login('alice'),
    )
    expect(status).toBe(403)
    expect((await visitor.get('/cart')).json()).toEqual(['tea'])
  })
})

test('a login after which the application keeps nothing in the session lives for its full time', async () => {
  const clock = fakeClock()
  const further: FastifySetup['further'] = ({ app, limiter }) => {
    app.post('/bare-login', async (request) => {
      await limiter.login(request, alice)
      return 'in'
    })
    app.get('/bare-state', async (request) => request.sessmgr)
  }
  const host = await start({ further, sessmgr: { store: memoryStore({ clock }) } })
  const browser = host.browser()
  expect((await browser.post('/bare-login')).status).toBe(200)
  clock.advance(122_000)
  expect((await browser.get('/bare-state')).json()).toMatchObject({ session: { userId: 2 } })
})

describe('a refused login that the application asked for itself', () => {
  class Refused {
    readonly codes: unknown[] = []
    add(error: { code?: unknown }) {
      this.codes.push(error.code)
    }
  }

  test('is told to the handler that it gives to catch, bound or not', async () => {
    const refused = new Refused()
    const host = await start({
      further: ({ app }) => {
        app.post('/bound', async (request) => {
          for (const options of [undefined, { keepSessionInfo: true }]) {
            await request.logIn(alice, options as never).catch(refused.add.bind(refused))
            await request.logIn(alice, options as never).catch((error) => refused.add(error))
          }
          return { user: request.user }
        })
      },
    })
    await host.browser().login('alice')
    expect((await host.browser().post('/bound')).json()).toEqual({ user: null })
    expect(refused.codes).toEqual(Array(4).fill('login_limit_reached'))
  })

  test('is told to a promise of its own', async () => {
    const host = await start({
      further: ({ app }) => {
        app.post('/promise', (request) => {
          const login = new Promise((_, reject) => request.logIn(alice).catch(reject))
          return login.catch((error) => ({ mine: error.code }))
        })
      },
    })
    await host.browser().login('alice')
    expect((await host.browser().post('/promise')).json()).toEqual({ mine: 'login_limit_reached' })
  })
})

test('rule 74: a named store that is down at the first request of a process makes 503', async () => {
  const shared = { sessions: new JsonSessions(), store: memoryStore() }
  const first = await start({ sessions: shared.sessions, sessmgr: { store: shared.store } })
  const browser = first.browser()
  await browser.login('alice')
  const store = shared.sessions.forCallbacks()
  const sessmgr = { store: shared.store, sessionStore: store }
  const second = await start({ sessions: shared.sessions, store, sessmgr })
  shared.sessions.failure = new Error('down')
  const answer = await browser.copy(second.origin).get('/me')
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
})

describe('the reason of an ended session', () => {
  test('is told with a signer of the application, which does not understand every cookie', async () => {
    const secret = {
      sign: (id: string) => `signed~${id}`,
      unsign: (text: string) => {
        if (!text.startsWith('signed~')) throw new Error('not mine')
        return { valid: true, renew: false, value: text.slice('signed~'.length) }
      },
    }
    const host = await start({ session: { secret } })
    const browser = await loggedIn(host, 'alice')
    browser.cookies.set('other', { value: 'xyz', path: '/' })
    await host.limiter.sessions.logoutAllUsers()
    expect((await browser.get('/state')).json()).toMatchObject({ ended: { reason: 'logout_all' } })
    expect((await browser.get('/state')).json()).toEqual({})
  })
})

test('decision 71: the cookie of an ended session is left to @fastify/session', async () => {
  for (const cookieName of ['sessionId', '__Host-sid']) {
    const session = { cookieName, cookie: { secure: true, maxAge: FORTNIGHT } }
    const headers = { 'x-forwarded-proto': 'https' }
    const signIn = async (unlimited: boolean) => {
      const host = await start({ session, fastify: { trustProxy: true }, unlimited })
      const browser = host.browser()
      await browser.login('alice', headers)
      expect([...browser.cookies.keys()]).toEqual([cookieName])
      return { host, browser }
    }
    const plain = await signIn(true)
    plain.host.sessions.sessions.clear()
    const { host, browser } = await signIn(false)
    await host.limiter.sessions.endAll(2)
    const [alone, answer] = [await plain.browser.get('/me', { headers }), await browser.get('/me', { headers })]
    const notice = expect.stringMatching(/^__Host-sessmgr_notice=[\da-f]{64}; .*; HttpOnly; Secure; SameSite=Lax$/)
    expect([answer.status, answer.setCookies]).toEqual([401, [...alone.setCookies, notice]])
  }
})
