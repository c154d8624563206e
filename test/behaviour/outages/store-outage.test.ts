import express from 'express'
import session from 'express-session'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { memoryStore, SessmgrError, type SessmgrStore, sessmgr } from '../../../src/index.ts'
import { type Answer, Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { listen } from '../../support/listen.ts'
import { TestStore } from '../../support/test-store.ts'

/** An application without Passport that leaves errors to Express. */
async function outageHost(options: { sessionStore?: boolean } = {}) {
  const store = new TestStore()
  const limiter = sessmgr({ sessionStore: options.sessionStore ? store : undefined })
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ store, secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.get('/', (_req, res) => void res.send('public page'))
  app.get('/me', (req, res) => void res.sendStatus(req.session?.userId === undefined ? 401 : 200))
  app.post('/login', (req, res, next) => {
    limiter.login(req, { id: 2 }).then(() => {
      req.session.userId = 2
      res.sendStatus(204)
    }, next)
  })
  const origin = await listen(app)
  return { store, limiter, browser: () => new Browser(origin) }
}

/** Who may be signed in is asked to come back: not answered as a stranger, and not signed out. */
function expectUnavailable(answer: Answer): void {
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('2')
  expect(answer.setCookies).toEqual([])
}

describe('between the events disconnect and connect of the session store', () => {
  test('a request with a cookie is answered 503, an anonymous one goes on', async () => {
    const host = await outageHost()
    const laptop = host.browser()
    await laptop.post('/login')

    host.store.emit('disconnect')
    expectUnavailable(await laptop.get('/me'))
    expectUnavailable(await laptop.get('/'))
    const page = await host.browser().get('/')
    expect([page.status, page.text]).toEqual([200, 'public page'])
    expect(await host.browser().me()).toBe(401)

    host.store.emit('connect')
    expect(await laptop.me()).toBe(200)
  })

  test('nobody is signed in', async () => {
    const host = await outageHost()
    await host.browser().get('/')
    host.store.emit('disconnect')
    expect((await host.browser().post('/login')).status).toBe(500)
    expect(await host.limiter.sessions.count(2)).toBe(0)
  })

  test('the same holds before the first request, of a store that is named at the start', async () => {
    const host = await outageHost({ sessionStore: true })
    host.store.emit('disconnect')
    const browser = host.browser()
    expect((await browser.get('/')).status).toBe(200)
    browser.cookies.set('connect.sid', { value: 's%3Aid.signature', path: '/' })
    expectUnavailable(await browser.get('/me'))
  })
})

describe('a session store that does not answer', () => {
  test('costs a request the deadline, ends in 503, and keeps the cookie', async () => {
    const host = await startExpressHost({ sessmgr: { deadlineMs: 500 }, expressErrors: true })
    const laptop = await host.signedIn('alice')
    host.store.silent = true
    expectUnavailable(await laptop.get('/me'))
    expect((await host.browser().get('/')).status).toBe(200)

    host.store.silent = false
    await vi.waitFor(async () => expect(await laptop.me()).toBe(200), { timeout: 30_000, interval: 50 })
    expect(await host.limiter.sessions.count(2)).toBe(1)
  })

  test('fails a login with 503, and no session changes hands', async () => {
    const host = await startExpressHost({
      sessmgr: { deadlineMs: 500, settings: { logic: 'allow' } },
      expressErrors: true,
    })
    const laptop = await host.signedIn('alice')
    host.store.silent = true
    expectUnavailable(await host.browser().login('alice'))
    host.store.silent = false
    await vi.waitFor(async () => expect(await laptop.me()).toBe(200), { timeout: 30_000, interval: 50 })
    expect(host.actions).toEqual([])
  })
})

describe('a registry that cannot be reached', () => {
  function failing(): SessmgrStore & { fail: boolean } {
    const store = memoryStore()
    const switchable = Object.assign({ ...store }, { fail: false })
    const sessions = new Proxy(store.sessions, {
      get(target, name) {
        const method = Reflect.get(target, name) as (...parameters: unknown[]) => Promise<unknown>
        return async (...parameters: unknown[]) => {
          if (switchable.fail) throw new SessmgrError('store_unavailable', 'The registry cannot be reached.')
          return method.apply(target, parameters)
        }
      },
    })
    return Object.assign(switchable, { sessions })
  }

  test('answers 503 to signed-in users and to logins, and signs nobody out', async () => {
    const store = failing()
    const host = await startExpressHost({ sessmgr: { store }, expressErrors: true })
    const laptop = await host.signedIn('alice')
    const visitor = host.browser()
    await visitor.post('/cart', { item: 'tea' })

    store.fail = true
    expectUnavailable(await laptop.get('/me'))
    expectUnavailable(await visitor.login('alice'))
    expect((await visitor.get('/cart')).json()).toEqual(['tea'])
    expect((await host.browser().get('/')).status).toBe(200)

    store.fail = false
    expect([await laptop.me(), await visitor.me()]).toEqual([200, 401])
    expect(await host.limiter.sessions.count(2)).toBe(1)
  })

  test('that fails while a login is under way leaves no session behind', async () => {
    const store = failing()
    const host = await startExpressHost({ sessmgr: { store }, expressErrors: true })
    const visitor = host.browser()
    await visitor.post('/cart', { item: 'tea' })
    const anonymous = visitor.sessionId()
    host.limiter.hooks.addFilter('sessmgr_bypass', 'test', (bypass) => {
      store.fail = true
      return bypass
    })
    expectUnavailable(await visitor.login('alice'))
    store.fail = false
    expect(host.store.ids()).toEqual([anonymous])
    expect(await visitor.me()).toBe(401)
    expect((await visitor.get('/cart')).json()).toEqual(['tea'])
  })
})
