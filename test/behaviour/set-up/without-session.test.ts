import { once } from 'node:events'
import { createServer } from 'node:http'
import express from 'express'
import session from 'express-session'
import Koa from 'koa'
import koaSession from 'koa-session'
import passport from 'passport'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { koaSessmgr } from '../../../src/koa.ts'
import { aWarning } from '../../support/a-warning.ts'
import { Browser } from '../../support/browser.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { listen } from '../../support/listen.ts'
import { TestStore } from '../../support/test-store.ts'

const REFUSED = expect.stringContaining('Move app.use(limiter)')
const WARNED = aWarning('mounted-before-the-session', /^Sessions are not checked and not limited: .*"sessionStore"/)

let logs: unknown[]
let errors: unknown[]
beforeEach(() => {
  logs = []
  errors = []
})

function createLimiter(options: SessmgrOptions = {}) {
  const note = (line: unknown) => void logs.push(line)
  const limiter = sessmgr({ logger: { warn: note, error: note }, ...options })
  onTestFinished(() => limiter.close())
  return limiter
}

const sessions = (options: object = {}) =>
  session({ store: new TestStore(), secret: 'test', resave: false, saveUninitialized: false, ...options })

/** Adds the routes that every application here has, and starts it. */
async function serve(app: express.Express, limiter: ReturnType<typeof createLimiter>): Promise<Browser> {
  const own = new passport.Passport()
  own.serializeUser((user, done) => done(null, user.id))
  app.get(['/', '/health'], (req, res) => void res.json({ session: req.session !== undefined }))
  app.get('/app/me', (req, res) => void res.json(req.sessmgr?.session?.userId ?? null))
  app.post(['/login', '/app/login'], (req, res, next) => {
    limiter.login(req, { id: 2 }).then(() => res.sendStatus(204), next)
  })
  app.post('/passport', own.initialize(), (req, res, next) => {
    req.logIn({ id: 2 } as Express.User, (error) => (error ? next(error) : res.sendStatus(204)))
  })
  app.post('/own', (req, res) => {
    Object.assign(req.session, { userId: 2 })
    res.sendStatus(204)
  })
  const show: express.ErrorRequestHandler = (error, _req, res, _next) => {
    errors.push(error)
    res.sendStatus(error.status ?? 500)
  }
  app.use(show)
  return new Browser(await listen(app))
}

describe('rule 57: a request without a session passes', () => {
  test('on a route outside the session, from the first request of the process on', async () => {
    const limiter = createLimiter()
    const app = express()
    const withSession = sessions()
    app.use((req, res, next) => (req.path === '/health' ? next() : withSession(req, res, next)))
    const browser = await serve(app.use(limiter), limiter)
    expect((await browser.get('/health')).json()).toEqual({ session: false })
    expect((await browser.post('/login')).status).toBe(204)
    expect((await browser.get('/health')).json()).toEqual({ session: false })
    expect([errors, logs]).toEqual([[], []])
  })

  test("outside the path of the session's cookie", async () => {
    const limiter = createLimiter()
    const app = express().use(sessions({ cookie: { path: '/app' } }), limiter)
    const browser = await serve(app, limiter)
    expect((await browser.get('/')).json()).toEqual({ session: false })
    expect((await browser.post('/app/login')).status).toBe(204)
    expect((await browser.get('/')).json()).toEqual({ session: false })
    expect((await browser.get('/app/me')).json()).toBe(2)
    expect([errors, logs]).toEqual([[], []])
  })

  test('while the session store is disconnected, and then nobody is signed in', async () => {
    const store = new TestStore()
    const limiter = createLimiter()
    const browser = await serve(express().use(sessions({ store }), limiter), limiter)
    store.emit('disconnect')
    expect((await browser.get('/')).json()).toEqual({ session: false })
    store.emit('connect')
    await browser.post('/login')
    expect((await browser.get('/app/me')).json()).toBe(2)
    store.emit('disconnect')
    expect((await browser.get('/app/me')).json()).toBeNull()
    expect((await browser.post('/login')).status).toBe(500)
    expect((await browser.post('/passport')).status).toBe(500)
    store.emit('connect')
    expect((await browser.get('/app/me')).json()).toBe(2)
    expect(await limiter.sessions.count(2)).toBe(1)
    expect(logs).toEqual([])
  })

  test('and is checked if it passes again with a session', async () => {
    const limiter = createLimiter({ settings: { maximum: 1, logic: 'logout_oldest' } })
    const app = express().use(limiter)
    const browser = await serve(app.use('/app', sessions(), limiter), limiter)
    const other = browser.copy()
    for (const each of [browser, other]) expect((await each.post('/app/login')).status).toBe(204)
    expect((await browser.get('/app/me')).json()).toBeNull()
    expect((await other.get('/app/me')).json()).toBe(2)
    expect([errors, logs]).toEqual([[], []])
  })

  test('before Koa has a session', async () => {
    const app = new Koa()
    app.keys = ['test']
    app.silent = true
    const withSession = koaSession({ store: new JsonSessions().forPromises() }, app)
    app.use((ctx, next) => (ctx.path === '/health' ? next() : withSession(ctx, next)))
    const limiter = createLimiter()
    app.use(koaSessmgr(limiter, app))
    app.use(async (ctx) => {
      if (ctx.method === 'POST') await limiter.login(ctx, { id: 2 })
      ctx.body = 'ok'
    })
    app.on('error', (error) => errors.push(error))
    const browser = new Browser(await listen(app.callback()))
    for (const path of ['/health', '/', '/health']) expect((await browser.get(path)).status).toBe(200)
    expect((await browser.post('/')).status).toBe(200)
    expect((await browser.post('/health')).status).toBe(500)
    expect(errors).toMatchObject([{ code: 'session_middleware_missing', message: expect.stringContaining('path') }])
    expect([await limiter.sessions.count(2), logs]).toEqual([1, []])
  })
})

describe('rule 57: sessmgr before the session middleware', () => {
  test('warns once, and refuses logins', async () => {
    const sessionStore = new TestStore()
    const limiter = createLimiter()
    const browser = await serve(express().use(limiter, sessions({ store: sessionStore })), limiter)
    expect((await browser.get('/')).status).toBe(200)
    expect((await browser.get('/')).status).toBe(200)
    expect(logs).toEqual([WARNED])
    for (const path of ['/login', '/passport']) expect((await browser.post(path)).status).toBe(500)
    const refused = { code: 'session_middleware_missing', message: REFUSED }
    expect(errors).toMatchObject([refused, refused])
    expect([await limiter.sessions.count(2), sessionStore.ids(), logs.length]).toEqual([0, [], 1])
  })

  test('refuses the very first logins without Passport as well', async () => {
    const store = new TestStore()
    const limiter = createLimiter({ sessionUser: ({ userId }) => userId })
    const browser = await serve(express().use(limiter, sessions({ store })), limiter)
    const logins = [1, 2, 3].map(() => browser.copy().post('/own'))
    // express-session has sent the head before it saves the session, so some responses are cut.
    await Promise.allSettled(logins)
    const refused = { code: 'session_middleware_missing', message: REFUSED }
    await vi.waitFor(() => expect(errors).toMatchObject([refused, refused, refused]))
    expect([await limiter.sessions.count(2), store.ids()]).toEqual([0, []])
  })

  test.each([
    ['mounts nothing', false],
    ['mounts sessmgr first', true],
  ])('counts every login without a warning if the application names its store and %s', async (_, isMounted) => {
    const sessionStore = new TestStore()
    const settings = { maximum: 1, logic: 'block', idle_release: 3600 } as const
    const sessionUser = ({ userId, passport }: Record<string, unknown>) =>
      (userId ?? (passport as { user?: number } | undefined)?.user) as number | undefined
    const limiter = createLimiter({ sessionStore, sessionUser, settings })
    const app = express()
    if (isMounted) app.use(limiter)
    const browser = await serve(app.use(sessions({ store: sessionStore })), limiter)
    const other = browser.copy()
    expect((await browser.post('/own')).status).toBe(204)
    expect(await limiter.sessions.count(2)).toBe(1)
    for (const path of ['/own', '/passport']) {
      const refused = await other.post(path)
      expect([path, refused.status, refused.setCookies]).toEqual([path, 403, []])
    }
    expect(await limiter.sessions.count(2)).toBe(1)
    await limiter.sessions.endAll(2)
    expect((await browser.copy().post('/passport')).status).toBe(204)
    expect((await other.post('/own')).status).toBe(403)
    expect([await limiter.sessions.count(2), logs]).toEqual([1, []])
  })

  test('warns as well if the first response does not finish', async () => {
    const limiter = createLimiter()
    const app = express().use(limiter, sessions())
    app.get('/cut', (_req, res) => void res.destroy())
    const browser = await serve(app, limiter)
    await browser.get('/cut').catch(() => {})
    await vi.waitFor(() => expect(logs).toEqual([WARNED]))
  })

  test('refuses logins in a second store after its first response', async () => {
    const [first, second] = [new TestStore(), new TestStore()]
    const limiter = createLimiter({ sessionUser: ({ userId }) => userId })
    const app = express()
      .use('/app', sessions({ store: first }))
      .use(limiter)
      .use(sessions({ store: second }))
    const browser = await serve(app, limiter)
    expect((await browser.post('/app/login')).status).toBe(204)
    expect((await browser.get('/')).status).toBe(200)
    await vi.waitFor(() => expect(logs).toContainEqual(WARNED))
    await browser.post('/own').catch(() => {})
    await vi.waitFor(() => expect(errors).toMatchObject([{ code: 'session_middleware_missing' }]))
    expect(second.ids()).toEqual([])
  })

  test('costs nothing on requests without a session once another had one', async () => {
    const limiter = createLimiter()
    const app = express().use('/app', sessions()).use(limiter)
    app.get('/watched', (req, res) => void res.json(Object.hasOwn(req, 'sessionStore')))
    const browser = await serve(app, limiter)
    expect((await browser.get('/watched')).json()).toBe(true)
    await browser.get('/app/me')
    expect((await browser.get('/watched')).json()).toBe(false)
  })

  test('does the same in Koa', async () => {
    const app = new Koa()
    app.keys = ['test']
    const withSession = koaSession({ store: new JsonSessions().forPromises() }, app)
    const limiter = createLimiter()
    app.use(koaSessmgr(limiter, app)).use(withSession)
    app.on('error', (error) => errors.push(error))
    app.use(async (ctx) => {
      if (ctx.path === '/login') await limiter.login(ctx, { id: 2 })
      else if (ctx.session) ctx.session.cart = ['tea']
      ctx.body = 'ok'
    })
    const browser = new Browser(await listen(app.callback()))
    for (let call = 0; call < 2; call++) expect((await browser.get('/')).status).toBe(200)
    expect(logs).toEqual([WARNED])
    expect((await browser.post('/login')).status).toBe(500)
    expect((await browser.copy().post('/login')).status).toBe(500)
    const refused = { code: 'session_middleware_missing', message: REFUSED }
    expect(errors).toMatchObject([refused, refused])
    expect(await limiter.sessions.count(2)).toBe(0)
  })
})

test('a plain Node server without sessions passes the limiter', async () => {
  const limiter = createLimiter()
  const server = createServer((req, res) => limiter(req as never, res as never, () => res.end('ok')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  expect((await new Browser(`http://127.0.0.1:${port}`).get('/')).text).toBe('ok')
  expect([errors, logs]).toEqual([[], []])
})
