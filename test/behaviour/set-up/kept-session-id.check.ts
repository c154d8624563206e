import { createRequire } from 'node:module'
import fastifyCookie from '@fastify/cookie'
import fastifySession from '@fastify/session'
import express from 'express'
import session from 'express-session'
import fastify from 'fastify'
import Koa from 'koa'
import koaSession from 'koa-session'
import type { Authenticator } from 'passport'
import passport from 'passport'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import { fastifySessmgr } from '../../../src/fastify.ts'
import { type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { koaSessmgr } from '../../../src/koa.ts'
import { keepsSessionId } from '../../../src/middleware/login.ts'
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

describe('rule 61: Passport before 0.6', () => {
  async function start(settings: SessmgrOptions['settings'], isBare = false) {
    const limiter = createLimiter({ settings })
    const store = new TestStore()
    const own = new old.Passport()
    const serialized: unknown[] = []
    own.serializeUser((user, done) => {
      serialized.push(user)
      done(null, user.id)
    })
    own.deserializeUser((id: number, done) => done(null, { id } as Express.User))
    const app = express()
    app.use(session({ store, secret: 'test', resave: false, saveUninitialized: false }), limiter)
    app.use(own.initialize())
    if (isBare) {
      // Until 0.5.0, it was on no request.
      app.use((req, _res, next) => {
        const manager = (req as unknown as { _sessionManager: unknown })._sessionManager
        Object.assign(req, { _passport: { instance: { _sm: manager } }, _sessionManager: undefined })
        const { logIn } = req as unknown as { logIn(...call: unknown[]): void }
        Object.assign(req, {
          logIn(...call: unknown[]) {
            Object.assign(req, { _sessionManager: manager })
            logIn.apply(req, call)
            Object.assign(req, { _sessionManager: undefined })
          },
        })
        next()
      })
    }
    app.use(own.session())
    app.post('/login', (req, res, next) => {
      req.logIn({ id: 7 } as never, (error) => (error ? next(error) : res.json({ user: 7 })))
    })
    app.get('/me', (req, res) => void res.sendStatus(req.user ? 200 : 401))
    const show: express.ErrorRequestHandler = ({ code, message, status }, _req, res, _next) => {
      res.status(status).json({ code, message })
    }
    const origin = await listen(app.use(show))
    return { limiter, store, serialized, browser: () => new Browser(origin) }
  }

  test.each(['block', 'ask'])('in mode %s no login is begun, and the error says what to update', async (logic) => {
    const { limiter, store, serialized, browser } = await start({ maximum: 2, logic })
    const visitor = browser()
    const answer = await visitor.post('/login')
    expect([answer.status, answer.json()]).toEqual([
      500,
      {
        code: 'session_middleware_unsupported',
        message: expect.stringMatching(new RegExp(`"${logic}" mode.*npm install passport@latest`)),
      },
    ])
    expect(await visitor.me()).toBe(401)
    expect([serialized, store.ids(), await limiter.sessions.count(7)]).toEqual([[], [], 0])
  })

  test.each([
    { logic: 'allow' },
    { logic: 'logout_oldest' },
    { logic: 'logout_idlest' },
    { logic: 'block', enforce: false },
  ])('with %j logins go on, and are warned of once', async (settings) => {
    const { limiter, serialized, browser } = await start({ maximum: 1, ...settings })
    const [first, second] = [browser(), browser()]
    for (const each of [first, second]) expect((await each.post('/login')).json()).toEqual({ user: 7 })
    expect(serialized).toEqual([{ id: 7 }, { id: 7 }])
    const isLimited = settings.enforce !== false
    expect(await limiter.sessions.count(7)).toBe(isLimited ? 1 : 2)
    expect([await first.me(), await second.me()]).toEqual([isLimited ? 401 : 200, 200])
    expect(logs).toContainEqual(expect.stringMatching(/^Passport kept the session id at login/))
    expect(logs.filter((line) => String(line).startsWith('Passport'))).toHaveLength(1)
  })

  test.each([
    { enforce: true, hook: 'sessmgr_enforce', filtered: false, begins: true },
    { enforce: false, hook: 'sessmgr_enforce', filtered: true, begins: false },
    { enforce: true, hook: 'sessmgr_bypass', filtered: true, begins: true },
  ] as const)(
    'in mode block, with enforce $enforce, and $hook that returns $filtered, logins begin: $begins',
    async (given) => {
      const { enforce, hook, filtered, begins } = given
      const { limiter, browser } = await start({ maximum: 1, logic: 'block', enforce })
      limiter.hooks.addFilter(hook, 'test', (verdict, userId) => (userId === 7 ? filtered : verdict))
      for (const visitor of [browser(), browser()]) {
        const answer = await visitor.post('/login')
        expect(answer.json()).toMatchObject(begins ? { user: 7 } : { code: 'session_middleware_unsupported' })
        expect(await visitor.me()).toBe(begins ? 200 : 401)
      }
      expect(await limiter.sessions.count(7)).toBe(begins ? 2 : 0)
    },
  )

  test('begins no login at the bound of 1,000 sessions, although the limit is not enforced', async () => {
    const { limiter, serialized, browser } = await start({ maximum: 1, logic: 'block', enforce: false })
    const calls = explicitCalls(limiter, { exists: () => true, destroy: () => true })
    for (let count = 0; count < 1000; count++) {
      await calls.login({ userId: 7 }, async () => ({ sessionId: `session ${count}`, ttlMs: 3_600_000 }))
    }
    expect((await browser().post('/login')).json()).toMatchObject({ code: 'session_middleware_unsupported' })
    expect([serialized, await limiter.sessions.count(7)]).toEqual([[], 1000])
  })

  test('is warned of where it does not put its session manager on the request', async () => {
    const { limiter, browser } = await start({ maximum: 1, logic: 'allow' }, true)
    expect((await browser().post('/login')).json()).toEqual({ user: 7 })
    expect(logs).toEqual([expect.stringMatching(/^Passport kept the session id at login/)])
    expect(await limiter.sessions.count(7)).toBe(1)
  })

  test('is recognized where it does not put its session manager on the request', async () => {
    const { limiter, browser } = await start({ maximum: 1, logic: 'block' }, true)
    expect((await browser().post('/login')).json()).toMatchObject({ code: 'session_middleware_unsupported' })
    expect(await limiter.sessions.count(7)).toBe(0)
  })

  test('is recognized by what it does, without a login', () => {
    const managerOf = (made: object) => (made as { _sm: never })._sm
    const [before, after] = [new old.Passport(), new passport.Passport()]
    for (const each of [before, after]) {
      each.serializeUser(() => {
        throw new Error('not to be called')
      })
    }
    expect([keepsSessionId(managerOf(before)), keepsSessionId(managerOf(after))]).toEqual([true, false])
    const own = { logIn: () => expect.unreachable() }
    const replaced = (of: object, logIn: (request: { get(name: string): string }) => unknown) => {
      const manager = Object.assign(managerOf(of), { logIn }) as never
      return keepsSessionId(manager)
    }
    expect(replaced(new passport.Passport(), () => expect.unreachable())).toBe(false)
    expect(replaced(new old.Passport(), (request) => request.get('origin'))).toBe(true)
    expect(replaced(new old.Passport(), async (request) => request.get('origin'))).toBe(true)
    expect([keepsSessionId(own), keepsSessionId({} as never), keepsSessionId(undefined)]).toEqual([false, false, false])
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
