import cookieSession from 'cookie-session'
import express, { type ErrorRequestHandler } from 'express'
import session, { MemoryStore } from 'express-session'
import Fastify from 'fastify'
import Koa from 'koa'
import { expect, onTestFinished, test } from 'vitest'
import { createLazyComments } from '../../../src/comments.ts'
import { fastifySessmgr } from '../../../src/fastify.ts'
import { memoryStore, type Sessmgr, sessmgr } from '../../../src/index.ts'
import { tokenSessions } from '../../../src/jwt.ts'
import { koaSessmgr } from '../../../src/koa.ts'
import { liveConnections } from '../../../src/live.ts'
import { postgresStore } from '../../../src/postgres.ts'
import { redisStore } from '../../../src/redis.ts'
import { sqliteStore } from '../../../src/sqlite.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

// Newcomers also write JavaScript, so nothing here may rely on types.
// biome-ignore lint/suspicious/noExplicitAny: see above.
type Anything = any

const logger = { warn() {}, error() {} }
const host: Anything = restHostOf(createRestUsers())
const SESSION = { secret: 'test', resave: false, saveUninitialized: false }

function make(options: Anything = {}): Anything {
  const limiter = sessmgr({ logger, ...options })
  onTestFinished(() => limiter.close())
  return limiter
}

const factory: Anything = sessmgr
const request = { method: 'GET', url: '/', headers: {} }

/** What is written, and what the error says that throws or rejects. */
const REFUSED: readonly (readonly [run: () => unknown, message: string])[] = [
  [() => make({ max: 3 }), 'There is no option "max". Did you mean "settings.maximum"?'],
  [() => make({ settings: { limit: 3 } }), 'no option "settings.limit". Did you mean "maximum"?'],
  [() => make({ settings: { maximum: '3' } }), "1 or more, or a function of the user id; got the string '3'."],
  [() => make({ settings: { maximum: Number('x') } }), '1 or more, or a function of the user id; got NaN.'],
  [() => make({ settings: 3 }), '"settings" must be an object such as { maximum: 2 }.'],
  [() => make({ settings: { logic: 'logout-oldest' } }), 'got logout-oldest. Did you mean "logout_oldest"?'],
  [() => make({ settings: { mode: 'block' } }), 'no option "settings.mode". Did you mean "logic"?'],
  [() => make({ settings: { idle_release: 15 } }), 'must be 0, or 300 seconds or more'],
  [() => make({ sessionStore: session(SESSION) }), 'got the session middleware. Pass its store'],
  [() => make({ sessionStore: MemoryStore }), 'got the class. Create the store: new MemoryStore(…).'],
  [() => make({ store: new MemoryStore() }), 'a session store belongs in "sessionStore".'],
  [() => make({ store: memoryStore }), 'Call the function: store: memoryStore(…).'],
  [() => make({ store: Promise.resolve(memoryStore()) }), 'got a promise. Write await before the call'],
  [() => make({ redis: {} }), 'There is no option "redis". Did you mean "store"?'],
  [() => sqliteStore('sessmgr.db' as Anything), "Pass the file as an option: sqliteStore({ path: 'sessmgr.db' })."],
  [() => redisStore({} as Anything), 'Pass a connected client from the redis package: redisStore({ client }).'],
  [() => redisStore({ url: 'redis://127.0.0.1' } as Anything), 'no option "url". Did you mean "client"?'],
  [() => postgresStore({} as Anything), 'Pass a pool from the pg package: postgresStore({ pool: new Pool() }).'],
  [() => make({ host: host.users }), '"host" must have users and permissions: sessmgr({ host: { users, can } }).'],
  [
    () => make({ host: { ...host, posts: {} } }),
    '"host.posts" has no effect without "host.theme". Lazy comments need both.',
  ],
  [() => make({ host: { ...host, theme: {} } }), '"host.theme" has no effect without "host.posts".'],
  [
    () => make({ host: { ...host, can: true } }),
    '"host.can" must be a function such as (user, capability) => boolean.',
  ],
  [() => make({ userId: 'email' }), '"userId" must be a function such as (user) => user.id.'],
  [() => make({ sessionUser: 'userId' }), '"sessionUser" must be a function such as (session) => session.userId.'],
  [() => make({ logger: console.log }), '"logger" must have the methods warn and error'],
  [() => factory(express()), 'must be an object such as { settings: { maximum: 2 } }.'],
  [() => factory(request, {}, () => {}), 'Write sessmgr(), with parentheses: the result is the middleware.'],
  [() => make()(), 'Write app.use(limiter), not app.use(limiter())'],
  [() => make().admin(), 'Set host: sessmgr({ host: { users, can } }).'],
  [() => make({ host }).admin({ loginurl: '/in' }), 'admin() has no option "loginurl". Did you mean "loginUrl"?'],
  [
    () => make().hooks.addFilter('sessmgr_bypas', 'my-app', () => true),
    'There is no filter "sessmgr_bypas". Did you mean "sessmgr_bypass"?',
  ],
  [() => make().hooks.addFilter('sessmgr_bypass', () => true), 'Put a name before the callback, such as "my-app".'],
  [() => make().hooks.addFilter('sessmgr_init', 'my-app', () => true), 'It is an action: use addAction.'],
  [() => koaSessmgr(make(), undefined as Anything), 'app.use(koaSessmgr(limiter, app)).'],
  [
    () => koaSessmgr(new Koa() as Anything, make()),
    'must be the limiter that sessmgr() returned: app.use(koaSessmgr(limiter, app)).',
  ],
  [() => Fastify().register(fastifySessmgr as Anything, make()), 'fastify.register(fastifySessmgr, { limiter }).'],
  [() => Fastify().register(fastifySessmgr, { limiter: make() }), 'Register @fastify/session before sessmgr'],
  [() => tokenSessions(undefined as Anything), 'tokenSessions(limiter).'],
  [() => liveConnections(express() as Anything), 'liveConnections(limiter).'],
  [() => make().sessions.endAll({ id: 7 }), 'got an object. Pass user.id instead of user.'],
  [() => make().sessions.list(undefined), 'Check that the user is signed in'],
  [() => make().sessions.end('a'.repeat(64)), 'needs a token, as in request.sessmgr.session.token or sessions.list()'],
  [() => make().settings.update({ max: 3 }), 'max is unknown (did you mean "maximum"?). Nothing was changed.'],
  [() => make().passwords.create(7), "needs a name, such as 'backup script'."],
  [() => make().eraseUser({ id: 7 }), 'Pass user.id instead of user.'],
  [() => make({ sessionStore: {} }), '"sessionStore" must be the express-session store; got an object.'],
  [() => make({ sessionStore: Promise.resolve() }), 'express-session store; got a promise.'],
  [() => make({ audit: true }), "an object such as { sink: jsonLinesSink('activity.jsonl') }"],
  [() => factory(new MemoryStore()), 'Did you mean "sessionStore"?'],
]

test('the error of a mistake says in a sentence or two what to write', async () => {
  for (const [run, message] of REFUSED) {
    const error = await Promise.resolve()
      .then(run)
      .then(
        () => undefined,
        (given) => given,
      )
    expect(error?.message, String(run)).toContain(message)
    // Besides what follows a stop.
    expect(error.message.split(/(?<=[.?!]) (?=[A-Z])/).length, message).toBeLessThanOrEqual(3)
    expect(error.message.length, message).toBeLessThan(300)
    expect(error.code, message).toMatch(/^[a-z_]+$/)
  }
})

const posts = { find: () => undefined, id: () => 1, url: () => '/', isPublic: () => true, countComments: () => 1 }
const lazy = { host: { posts, theme: { renderComments: () => '' } } } as Anything

test('what makes a middleware, mounted in place of the middleware, says what to write', async () => {
  for (const [call, handler] of [
    ['sessmgr()', sessmgr],
    ['limiter.router()', make({ host }).router],
    ['limiter.router()', make().router],
    ['limiter.admin()', make({ host }).admin],
    ['createLazyComments({ host })', createLazyComments],
    ['comments.router()', createLazyComments(lazy).router],
  ]) {
    const browser = await start((app) => app.use(session(SESSION), handler as Anything))
    const message = `Write ${call}, with parentheses: the result is the middleware.`
    expect((await browser.get('/')).json()).toEqual({ code: 'invalid_option', message })
  }
})

/** Starts an application that signs in at /login, and shows its errors. */
async function start(use: (app: express.Express, limiter: Sessmgr) => void, options: Anything = {}) {
  const app = express()
  use(app, make(options))
  const show: ErrorRequestHandler = ({ code, message }, _req, res, _next) =>
    void res.status(500).json({ code, message })
  app.use(show)
  return new Browser(await listen(app))
}

test.each<[string, (app: express.Express, limiter: Sessmgr) => void, string, string]>([
  [
    'no session middleware',
    (app, limiter) => app.use(limiter),
    'session_middleware_missing',
    'app.use(session({ store, secret, resave: false, saveUninitialized: false }))',
  ],
  [
    'sessions in the cookie',
    (app, limiter) => app.use(cookieSession({ name: 's', keys: ['k'] }), limiter),
    'session_middleware_unsupported',
    'as with cookie-session',
  ],
  [
    'sessmgr before the sessions',
    (app, limiter) => app.use(limiter, session(SESSION)),
    'session_middleware_missing',
    'after app.use(session(…)).',
  ],
  ['nothing mounted', () => {}, 'session_middleware_missing', 'the login route after both'],
])('a login with %s: the error says what to write', async (_what, use, code, message) => {
  const browser = await start((app, limiter) => {
    use(app, limiter)
    app.post('/login', (req, res, next) => void limiter.login(req, { id: 7 }).then(() => res.sendStatus(204), next))
  })
  const answer = await browser.post('/login')
  expect([answer.status, answer.json()]).toEqual([500, { code, message: expect.stringContaining(message) }])
  expect(answer.setCookies).toEqual([])
})
