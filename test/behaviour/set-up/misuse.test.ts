import cookieSession from 'cookie-session'
import express from 'express'
import session from 'express-session'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SessmgrError, type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { deferred } from '../../support/deferred.ts'
import { type ExpressHost, startExpressHost } from '../../support/express-host.ts'
import { listen } from '../../support/listen.ts'
import { TestStore } from '../../support/test-store.ts'

/** An application of a few lines whose error handler shows what it got. */
async function smallHost(options: SessmgrOptions, ...before: express.RequestHandler[]) {
  const limiter = sessmgr(options)
  onTestFinished(() => limiter.close())
  const app = express()
  if (before.length > 0) app.use(...before)
  app.use(limiter)
  app.get('/', (_req, res) => void res.send('public page'))
  app.post('/login', (req, res, next) => {
    limiter.login(req, { id: 2 }).then(() => res.sendStatus(204), next)
  })
  const show: express.ErrorRequestHandler = ({ name, code, message, status }, _req, res, _next) => {
    res.status(status).json({ name, code, message })
  }
  app.use(show)
  return { limiter, browser: new Browser(await listen(app)) }
}

describe('an application that is put together wrong', () => {
  test('without express-session is told at a login what to add', async () => {
    const { browser } = await smallHost({})
    expect((await browser.get('/')).status).toBe(200)
    const answer = await browser.post('/login')
    expect(answer.status).toBe(500)
    expect(answer.json()).toEqual({
      name: 'SessmgrError',
      code: 'session_middleware_missing',
      message: expect.stringContaining('app.use(session({ store, secret, resave: false, saveUninitialized: false }))'),
    })
  })

  test('with cookie-session is told why that cannot work', async () => {
    const { browser } = await smallHost({}, cookieSession({ name: 'session', keys: ['test'] }))
    const answer = await browser.get('/')
    expect(answer.status).toBe(500)
    expect(answer.json()).toMatchObject({
      code: 'session_middleware_unsupported',
      message: expect.stringContaining('as with cookie-session'),
    })
    expect(answer.setCookies).toEqual([])
  })

  test('that calls limiter.login without express-session is told so', async () => {
    const limiter = sessmgr()
    const app = express()
    app.post('/login', async (req, res) => {
      const error = await limiter.login(req, { id: 2 }).then(
        () => undefined,
        (refused) => refused,
      )
      res.json({ known: error instanceof SessmgrError, code: error?.code, status: error?.status })
    })
    const answer = await new Browser(await listen(app)).post('/login')
    expect(answer.json()).toEqual({ known: true, code: 'session_middleware_missing', status: 500 })
  })

  test('that calls the limiter when it mounts it is told to pass it', () => {
    const call = sessmgr() as unknown as () => void
    expect(() => call()).toThrow('Write app.use(limiter), not app.use(limiter())')
  })

  test('with sessmgr on the way twice counts a login once', async () => {
    const store = new TestStore()
    const { limiter, browser } = await smallHost(
      { settings: { logic: 'block' } },
      session({ store, secret: 'test', resave: false, saveUninitialized: false }),
      (req, res, next) => limiter(req, res, next),
    )
    expect((await browser.post('/login')).status).toBe(204)
    expect(await limiter.sessions.count(2)).toBe(1)
    expect((await browser.get('/')).status).toBe(200)
    expect(store.ids()).toEqual([browser.sessionId()])
  })
})

/** Alice is signed in on a laptop; a visitor with a filled cart is about to sign in as somebody. */
async function scene(options: SessmgrOptions & { way?: 'plain' | 'limiter' } = {}) {
  const { way = 'plain', ...sessmgrOptions } = options
  const host = await startExpressHost({ way, sessmgr: { settings: { logic: 'allow' }, ...sessmgrOptions } })
  const laptop = await host.signedIn('alice')
  const visitor = host.browser()
  await visitor.post('/cart', { item: 'tea' })
  return { host, laptop, visitor, before: snapshot(host) }
}

function snapshot(host: ExpressHost) {
  return Object.fromEntries(host.store.ids().map((id) => [id, withoutCookie(host.store.read(id))]))
}

function withoutCookie(data: Record<string, unknown> = {}) {
  return { ...data, cookie: undefined }
}

async function expectNothingChanged({ host, laptop, visitor, before }: Awaited<ReturnType<typeof scene>>) {
  expect(snapshot(host)).toEqual(before)
  expect([await laptop.me(), await visitor.me()]).toEqual([200, 401])
  expect((await visitor.get('/cart')).json()).toEqual(['tea'])
  expect(await host.limiter.sessions.count(2)).toBe(1)
  expect(host.actions).toEqual([])
}

const ways = ['plain', 'limiter'] as const

describe.each(ways)('a login by %s of a user without an id', (way) => {
  test('fails and says where to look, and no session changes hands', async () => {
    const set = await scene({ way })
    const answer = await set.visitor.login('nameless')
    expect(answer.status).toBe(500)
    expect(answer.setCookies).toEqual([])
    expect(set.host.errors).toEqual([
      expect.objectContaining({ code: 'user_id_missing', message: expect.stringContaining('sessmgr({ userId:') }),
    ])
    await expectNothingChanged(set)
  })
})

describe.each(ways)('rule 12: a filter that fails a login by %s', (way) => {
  const filters = ['sessmgr_bypass', 'sessmgr_reached_limit'] as const

  test.each(filters)(
    '%s does not answer: the login fails after the deadline, and no session changes hands',
    async (name) => {
      const set = await scene({ way, deadlineMs: 500 })
      set.host.limiter.hooks.addFilter(name, 'slow-add-on', () => new Promise<boolean>(() => {}))
      const answer = await set.visitor.login('alice')
      expect(answer.status).toBe(500)
      expect(answer.setCookies).toEqual([])
      expect(set.host.errors).toEqual([
        expect.objectContaining({
          code: 'hook_timeout',
          message: `The subscriber "slow-add-on" to "${name}" did not respond within 500 ms.`,
        }),
      ])
      await expectNothingChanged(set)
    },
  )

  test.each(filters)('%s throws: the login fails, and no session changes hands', async (name) => {
    const set = await scene({ way })
    set.host.limiter.hooks.addFilter(name, 'broken-add-on', () => {
      throw new Error('out of order')
    })
    expect((await set.visitor.login('alice')).status).toBe(500)
    expect(set.host.errors).toEqual([
      expect.objectContaining({
        code: 'hook_failed',
        message: `The subscriber "broken-add-on" to "${name}" failed: out of order`,
      }),
    ])
    await expectNothingChanged(set)
  })

  test.each([undefined, 'yes', 1, null])('answers %j instead of true or false: the login fails', async (value) => {
    const set = await scene({ way })
    set.host.limiter.hooks.addFilter('sessmgr_bypass', 'sloppy-add-on', () => value as unknown as boolean)
    expect((await set.visitor.login('alice')).status).toBe(500)
    expect(set.host.errors).toEqual([expect.objectContaining({ code: 'hook_failed' })])
    await expectNothingChanged(set)
  })

  test('sessmgr_error_message throws: the login is not admitted', async () => {
    const set = await scene({ way, settings: { logic: 'block' } })
    set.host.limiter.hooks.addFilter('sessmgr_error_message', 'broken-add-on', () => {
      throw new Error('out of order')
    })
    expect((await set.visitor.login('alice')).status).toBe(500)
    await expectNothingChanged(set)
  })
})

describe('rule 12: an action that fails never changes the login', () => {
  test.each(['allow', 'logout_oldest'])('in mode %s', async (logic) => {
    const { host, laptop, visitor } = await scene({ settings: { logic } })
    const action = logic === 'allow' ? 'sessmgr_destroy_all_sessions' : 'sessmgr_destroy_oldest_session'
    host.limiter.hooks.addAction(action, 'broken-add-on', () => {
      throw new Error('out of order')
    })
    expect((await visitor.login('alice')).status).toBe(200)
    expect([await laptop.me(), await visitor.me()]).toEqual([401, 200])
    expect(host.actions).toEqual([[action, 2]])
    expect(host.logs).toEqual([
      [expect.stringContaining(`"broken-add-on" to "${action}" failed: out of order`), expect.anything()],
    ])
  })

  test('in mode block', async () => {
    const set = await scene({ settings: { logic: 'block' } })
    set.host.limiter.hooks.addAction('sessmgr_login_blocked', 'broken-add-on', () => Promise.reject(new Error('no')))
    expect((await set.visitor.login('alice')).status).toBe(403)
    expect(set.host.actions).toEqual([['sessmgr_login_blocked', 2]])
    expect(await set.laptop.me()).toBe(200)
  })

  test('and one that hangs keeps nobody waiting', async () => {
    const { host, visitor } = await scene({ deadlineMs: 60_000 })
    const hanging = deferred()
    host.limiter.hooks.addAction('sessmgr_destroy_all_sessions', 'slow-add-on', () => hanging.promise)
    expect((await visitor.login('alice')).status).toBe(200)
    expect(await visitor.me()).toBe(200)
    hanging.resolve()
  })
})
