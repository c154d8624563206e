import { createRequire } from 'node:module'
import fastifyCookie from '@fastify/cookie'
import fastifySession from '@fastify/session'
import express from 'express'
import session from 'express-session'
import fastify from 'fastify'
import Koa from 'koa'
import koaSession from 'koa-session'
import type { Authenticator } from 'passport'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { fastifySessmgr } from '../../../src/fastify.ts'
import { type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { koaSessmgr } from '../../../src/koa.ts'
import { Browser } from '../../support/browser.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { listen } from '../../support/listen.ts'
import { TestStore } from '../../support/test-store.ts'

type Passport = new () => Authenticator

const old = createRequire(import.meta.url)('passport05') as { Passport: Passport }

let logs: unknown[]
beforeEach(() => {
  logs = []
})

function createLimiter(options: SessmgrOptions) {
  const note = (line: unknown) => void logs.push(line)
  const limiter = sessmgr({ logger: { warn: note, error: note }, ...options })
  onTestFinished(() => limiter.close())
  return limiter
}

describe('rule 76: Passport before 0.6', () => {
  /** @param isOlder Until 0.5.0, Passport's session manager was not on the request. */
  async function start(logic: string, isOlder: boolean) {
    const limiter = createLimiter({ settings: { logic } })
    const store = new TestStore()
    const own = new old.Passport()
    const serialized: unknown[] = []
    own.serializeUser((user, done) => {
      serialized.push(user)
      done(null, user.id)
    })
    const app = express()
    app.use(session({ store, secret: 'test', resave: false, saveUninitialized: false }), limiter)
    app.use(own.initialize(), (req, _res, next) => {
      const { _sessionManager } = req as unknown as { _sessionManager: unknown }
      if (isOlder) Object.assign(req, { _passport: { instance: { _sm: _sessionManager } }, _sessionManager: undefined })
      next()
    })
    app.get('/login', (req, res, next) => {
      req.logIn({ id: 7 } as never, (error) => (error ? next(error) : res.json({ user: 7 })))
    })
    const show: express.ErrorRequestHandler = ({ code, message, status }, _req, res, _next) => {
      res.status(status).json({ code, message })
    }
    const visitor = new Browser(await listen(app.use(show)))
    return { limiter, store, serialized, visitor }
  }

  test.each([
    ['block', false],
    ['allow', true],
  ])('in mode %s, the first login fails with the line that cures it', async (logic, isOlder) => {
    const { limiter, store, serialized, visitor } = await start(logic, isOlder)
    const answer = await visitor.get('/login')
    expect([answer.status, answer.json()]).toEqual([
      500,
      { code: 'session_middleware_unsupported', message: expect.stringMatching(/npm install passport@\^0\.7/) },
    ])
    expect([serialized, store.ids(), await limiter.sessions.count(7)]).toEqual([[], [], 0])
  })
})

describe('rule 62: a login by the application itself', () => {
  const KEPT = [expect.stringMatching(/^A login kept the session id\..*req\.session\.regenerate\(callback\).* See /)]
  const sessionUser = (data: Record<string, unknown>) => data.userId as number | undefined

  async function expectWarning(origin: string) {
    for (const path of ['/login', '/safe-login']) await new Browser(origin).get(path)
    const visitor = new Browser(origin)
    await visitor.get('/cart')
    await visitor.get('/safe-login')
    expect(logs).toEqual([])
    for (let turn = 0; turn < 2; turn++) {
      const planted = new Browser(origin)
      await planted.get('/cart')
      await planted.get('/login')
    }
    expect(logs).toEqual(KEPT)
  }

  test('that keeps the session id in Express is warned of once', async () => {
    const limiter = createLimiter({ sessionUser, settings: { maximum: 9 } })
    const app = express()
    app.use(session({ store: new TestStore(), secret: 'test', resave: false, saveUninitialized: false }), limiter)
    const put = (data: object) => (req: express.Request, res: express.Response) => {
      Object.assign(req.session, data)
      res.sendStatus(204)
    }
    app.get('/cart', put({ cart: ['tea'] }))
    app.get('/login', put({ userId: 7 }))
    app.get('/safe-login', (req, res) => void req.session.regenerate(() => put({ userId: 7 })(req, res)))
    await expectWarning(await listen(app))
  })

  test('that keeps the session id in Fastify is warned of once', async () => {
    const limiter = createLimiter({ sessionUser, settings: { maximum: 9 } })
    const app = fastify()
    onTestFinished(() => app.close())
    await app.register(fastifyCookie)
    const options = { secret: 'a secret of thirty-two characters', saveUninitialized: false, cookie: { secure: false } }
    await app.register(fastifySession, options)
    await app.register(fastifySessmgr, { limiter })
    app.get('/cart', async (request) => void Object.assign(request.session, { cart: ['tea'] }))
    app.get('/login', async (request) => void Object.assign(request.session, { userId: 7 }))
    app.get('/safe-login', async (request) => {
      await request.session.regenerate()
      Object.assign(request.session, { userId: 7 })
    })
    await expectWarning(await app.listen({ host: '127.0.0.1', port: 0 }))
  })

  test('that keeps the session id in Koa is warned of once', async () => {
    const limiter = createLimiter({ sessionUser, settings: { maximum: 9 } })
    const app = new Koa()
    app.keys = ['test']
    const store = new JsonSessions().forPromises()
    app.use(koaSession({ store }, app)).use(koaSessmgr(limiter, app))
    app.use(async (ctx) => {
      if (ctx.path === '/safe-login') await ctx.session?.regenerate()
      Object.assign(ctx.session ?? {}, ctx.path === '/cart' ? { cart: ['tea'] } : { userId: 7 })
      ctx.body = 'ok'
    })
    await expectWarning(await listen(app.callback()))
  })
})
