import { createServer } from 'node:http'
import express, { type Request, type RequestHandler } from 'express'
import session, { MemoryStore } from 'express-session'
import Koa from 'koa'
import { Passport } from 'passport'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Sessmgr, type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { koaSessmgr } from '../../../src/koa.ts'
import { liveConnections } from '../../../src/live.ts'
import { aWarning } from '../../support/a-warning.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

let logs: string[]
beforeEach(() => {
  logs = []
})
const note = (line: string) => void logs.push(line)
const logger = { warn: note, error: note }

/** Starts an application whose sessions are mounted; the rest is up to the test. */
async function start(arrange: (app: express.Express, limiter: Sessmgr) => void, options: SessmgrOptions = {}) {
  const limiter = sessmgr({ logger, ...options })
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ store: new MemoryStore(), secret: 'test', resave: false, saveUninitialized: false }))
  arrange(app, limiter)
  const show: express.ErrorRequestHandler = ({ code, message }, _req, res, _next) => void res.json({ code, message })
  app.use(show)
  const origin = await listen(app)
  return { limiter, browser: () => new Browser(origin) }
}

/** Logs in with the limiter at `/login`. */
const withLogin = (app: express.Express, limiter: Sessmgr) => {
  app.use(limiter)
  app.get('/login', (req, res, next) => void limiter.login(req, { id: 7 }).then(() => res.sendStatus(204), next))
}

describe('a proxy that Express does not trust', () => {
  const NAMED = { 'x-forwarded-for': '203.0.113.9' }

  test.each([
    ['X-Forwarded-For', NAMED],
    ['X-Forwarded-Proto', { 'x-forwarded-proto': 'https' }],
  ])('is told of once, at a login with %s', async (_name, headers) => {
    const { browser } = await start(withLogin)
    await browser().get('/', { headers })
    expect(logs).toEqual([])
    for (let login = 0; login < 2; login++) await browser().get('/login', { headers })
    const words = /^A login came through a proxy that your app does not trust.*app\.set\('trust proxy', 1\)/
    expect(logs).toEqual([aWarning('proxy-not-trusted', words)])
  })

  test('is told of at a login by the application itself', async () => {
    const ownLogin: RequestHandler = (req, res) =>
      req.session.regenerate(() => {
        Object.assign(req.session, { account: { id: 7 } })
        res.sendStatus(204)
      })
    const arrange = (app: express.Express, limiter: Sessmgr) => app.use(limiter).get('/login', ownLogin)
    const { browser } = await start(arrange, {
      sessionUser: (data) => (data.account as { id?: number } | undefined)?.id,
    })
    await browser().get('/login', { headers: NAMED })
    expect(logs).toEqual([expect.stringMatching(/^A login came through a proxy/)])
  })

  test.each([
    ['no proxy', {}, {}],
    ['a trusted proxy', { ...NAMED, 'x-forwarded-proto': 'https' }, { 'trust proxy': 1 }],
    ['a trusted proxy on this machine', { 'x-forwarded-for': '127.0.0.1' }, { 'trust proxy': 'loopback' }],
  ])('is not seen with %s', async (_name, headers, settings: Record<string, unknown>) => {
    const { browser } = await start((app, limiter) => {
      for (const [name, value] of Object.entries(settings)) app.set(name, value)
      withLogin(app, limiter)
    })
    await browser().get('/login', { headers })
    expect(logs).toEqual([])
  })

  test('is not seen in headers of clients on the Internet', async () => {
    const { browser } = await start((app, limiter) => {
      app.use((req, _res, next) => {
        Object.defineProperty(req.socket, 'remoteAddress', { value: '198.51.100.7' })
        next()
      })
      withLogin(app, limiter)
    })
    await browser().get('/login', { headers: NAMED })
    expect(logs).toEqual([])
  })
})

test('app.use("/api", limiter) is told of at the first login at another path', async () => {
  const UNSEEN = expect.stringMatching(/^A user signed in .* outside its path\. .* without a path\./)
  const passport = new Passport()
  passport.serializeUser((user, done) => done(null, (user as { id: number }).id))
  passport.deserializeUser((id, done) => done(null, { id: Number(id), login: 'alice' }))
  const arrange = (app: express.Express, limiter: Sessmgr) => {
    app.use('/api', limiter).use(passport.session())
    app.get('/login', (req, res, next) =>
      req.logIn({ id: 7 } as never, (error) => (error ? next(error) : res.sendStatus(204))),
    )
    app.get('/api/cart', (_req, res) => void res.sendStatus(204))
  }
  const { browser } = await start(arrange)
  await browser().get('/api/cart')
  expect(logs).toEqual([])
  await browser().get('/login')
  expect(logs).toEqual([UNSEEN])
})

describe('limiter.login() without await', () => {
  test('is told of once', async () => {
    const settings = { logic: 'block', idle_release: 3600 }
    const { browser, limiter } = await start(
      (app, limiter) => {
        app.use(limiter).get('/login', (req, res) => {
          limiter.login(req, { id: 7 }).catch(() => {})
          res.sendStatus(204)
        })
      },
      { settings },
    )
    for (let login = 0; login < 2; login++) await browser().get('/login')
    await expect.poll(() => limiter.sessions.count(7)).toBe(1)
    await expect
      .poll(() => logs)
      .toEqual([aWarning('login-not-awaited', /^A login was decided only after .* "await limiter\.login/)])
  })
})

test('limiter.login() with other arguments says what to write', async () => {
  const user = { id: 7 }
  const calls: [call: (limiter: Sessmgr, req: Request) => Promise<void>, message: RegExp][] = [
    [(limiter, req) => limiter.login(user as never, req), /^The request comes first: write .*request, user\)\.$/],
    [(limiter) => limiter.login(user as never, undefined), /^The request is missing: write .*request, user\)\.$/],
    [(limiter, req) => limiter.login(req, undefined), /^The user is missing\. Pass it after/],
    [
      (limiter, req) => limiter.login(req, Promise.resolve(user)),
      /^The user is a promise\. Write await before the call that returns it\.$/,
    ],
  ]
  for (const [call, message] of calls) {
    const { browser } = await start((app, limiter) => {
      app.use(limiter).get('/login', (req, res, next) => void call(limiter, req).then(() => res.sendStatus(204), next))
    })
    expect((await browser().get('/login')).json<{ message: string }>().message).toMatch(message)
  }
  const userId = (async ({ id }: { id: number }) => id) as never
  const { browser } = await start(withLogin, { userId })
  expect((await browser().get('/login')).json()).toMatchObject({ message: expect.stringContaining('Remove async') })
})

test('an asynchronous sessionUser is told to be none', async () => {
  const sessionUser = (async ({ account }: Record<string, { id: number }>) => account?.id) as never
  const { browser } = await start(
    (app, limiter) => {
      app.use(limiter).get('/cart', (req, res) => {
        Object.assign(req.session, { account: { id: 7 } })
        res.sendStatus(204)
      })
    },
    { sessionUser },
  )
  await browser().get('/cart')
  expect(logs).toEqual([
    expect.stringMatching(/but returned a promise\. Without Passport, nothing is limited\. Remove async/),
  ])
})

test('app.use(limiter) in Koa names koaSessmgr, at every request', async () => {
  const limiter = sessmgr({ logger })
  onTestFinished(() => limiter.close())
  const app = new Koa()
  app.use(async (context, next) => {
    try {
      await next()
    } catch (error) {
      context.body = (error as Error).message
    }
  })
  app.use(limiter as never)
  const browser = new Browser(await listen(app.callback()))
  for (let call = 0; call < 2; call++) {
    expect((await browser.get('/')).text).toContain(
      'In Koa, write app.use(koaSessmgr(limiter, app)), from sessmgr/koa.',
    )
  }
  expect(koaSessmgr).toBeTypeOf('function')
})

test('live.upgrade() refuses an application in place of its server', () => {
  const limiter = sessmgr({ logger })
  onTestFinished(() => limiter.close())
  const live = liveConnections(limiter)
  const sockets = { handleUpgrade() {}, emit() {} }
  for (const app of [express(), new Koa(), createServer, undefined]) {
    expect(() => live.upgrade(app as never, [limiter as never], sockets)).toThrow(
      /needs the server that app\.listen\(\) or http\.createServer\(\) returns, not the application\.$/,
    )
  }
  live.upgrade(createServer(), [limiter as never], sockets)
})

test('the routes under /me name limiter.account() while it is not mounted', async () => {
  const host = restHostOf(createRestUsers())
  const { browser } = await start((app, limiter) => app.use(limiter).use('/api', limiter.router()), { host })
  const answer = await browser().get('/api/sessmgr/v1/me/sessions')
  expect(answer.json()).toMatchObject({
    code: 'rest_no_route',
    message: 'This route does not exist, because the application has not mounted limiter.account().',
  })
  expect((await browser().get('/api/sessmgr/v1/other')).json()).toMatchObject({ message: 'This route does not exist.' })
})
