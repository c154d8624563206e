import cookieSession from 'cookie-session'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import session, { MemoryStore } from 'express-session'
import Fastify from 'fastify'
import Koa from 'koa'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
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

let logs: string[]
beforeEach(() => {
  logs = []
})
const note = (line: string) => void logs.push(line)
const logger = { warn: note, error: note }
const host: Anything = restHostOf(createRestUsers())
const SESSION = { secret: 'test', resave: false, saveUninitialized: false }

function make(options: Anything = {}): Anything {
  const limiter = sessmgr({ logger, ...options })
  onTestFinished(() => limiter.close())
  return limiter
}

const factory: Anything = sessmgr
const request = { method: 'GET', url: '/', headers: {} }

/** What is written, and what it is answered: the message that throws or rejects. */
const REFUSED: readonly (readonly [what: string, run: () => unknown, message: string])[] = [
  ['the limit at the top', () => make({ max: 3 }), 'There is no option "max". Did you mean "settings.maximum"?'],
  ['another name of it', () => make({ settings: { limit: 3 } }), 'no option "settings.limit". Did you mean "maximum"?'],
  [
    'a string from the environment',
    () => make({ settings: { maximum: '3' } }),
    "1 or more, or a function of the user id; got the string '3'.",
  ],
  [
    'NaN from the environment',
    () => make({ settings: { maximum: Number('x') } }),
    '1 or more, or a function of the user id; got NaN.',
  ],
  [
    'a limit instead of the settings',
    () => make({ settings: 3 }),
    '"settings" must be an object such as { maximum: 2 }.',
  ],
  [
    'a misspelt mode',
    () => make({ settings: { logic: 'logout-oldest' } }),
    'got logout-oldest. Did you mean "logout_oldest"?',
  ],
  [
    'a mode under another name',
    () => make({ settings: { mode: 'block' } }),
    'no option "settings.mode". Did you mean "logic"?',
  ],
  ['minutes for seconds', () => make({ settings: { idle_release: 15 } }), 'must be 0, or 300 seconds or more'],
  [
    'the session middleware as session store',
    () => make({ sessionStore: session(SESSION) }),
    'got the session middleware. Pass its store',
  ],
  [
    'the class of the session store',
    () => make({ sessionStore: MemoryStore }),
    'got the class. Create the store: new MemoryStore(…).',
  ],
  [
    'the session store as store',
    () => make({ store: new MemoryStore() }),
    'a session store belongs in "sessionStore".',
  ],
  ['a store that is not called', () => make({ store: memoryStore }), 'Call the function: store: memoryStore(…).'],
  [
    'a store that is not awaited',
    () => make({ store: Promise.resolve(memoryStore()) }),
    'got a promise. Write await before the call',
  ],
  ['Redis as an option', () => make({ redis: {} }), 'There is no option "redis". Did you mean "store"?'],
  [
    'a file instead of options',
    () => sqliteStore('sessmgr.db' as Anything),
    "Pass the file as an option: sqliteStore({ path: 'sessmgr.db' }).",
  ],
  [
    'no client',
    () => redisStore({} as Anything),
    'Pass a connected client from the redis package: redisStore({ client }).',
  ],
  [
    'the address of Redis',
    () => redisStore({ url: 'redis://127.0.0.1' } as Anything),
    'no option "url". Did you mean "client"?',
  ],
  [
    'no pool',
    () => postgresStore({} as Anything),
    'Pass a pool from the pg package: postgresStore({ pool: new Pool() }).',
  ],
  [
    'the users as host',
    () => make({ host: host.users }),
    '"host" must have users and permissions: sessmgr({ host: { users, can } }).',
  ],
  [
    'posts without a theme',
    () => make({ host: { ...host, posts: {} } }),
    '"host.posts" has no effect without "host.theme". Lazy comments need both.',
  ],
  [
    'a theme without posts',
    () => make({ host: { ...host, theme: {} } }),
    '"host.theme" has no effect without "host.posts".',
  ],
  [
    'a right for everyone',
    () => make({ host: { ...host, can: true } }),
    '"host.can" must be a function such as (user, capability) => boolean.',
  ],
  ['the name of the id', () => make({ userId: 'email' }), '"userId" must be a function such as (user) => user.id.'],
  [
    'the name of a field',
    () => make({ sessionUser: 'userId' }),
    '"sessionUser" must be a function such as (session) => session.userId.',
  ],
  ['a function as logger', () => make({ logger: console.log }), '"logger" must have the methods warn and error'],
  ['the application', () => factory(express()), 'must be an object such as { settings: { maximum: 2 } }.'],
  [
    'app.use(sessmgr)',
    () => factory(request, {}, () => {}),
    'Write sessmgr(), with parentheses: the result is the middleware.',
  ],
  ['app.use(limiter())', () => make()(), 'Write app.use(limiter), not app.use(limiter())'],
  ['the admin screen without a host', () => make().admin(), 'Set host: sessmgr({ host: { users, can } }).'],
  [
    'a misspelt option of a page',
    () => make({ host }).admin({ loginurl: '/in' }),
    'admin() has no option "loginurl". Did you mean "loginUrl"?',
  ],
  [
    'a misspelt hook',
    () => make().hooks.addFilter('sessmgr_bypas', 'my-app', () => true),
    'There is no filter "sessmgr_bypas". Did you mean "sessmgr_bypass"?',
  ],
  [
    'a hook without a name',
    () => make().hooks.addFilter('sessmgr_bypass', () => true),
    'Put a name before the callback, such as "my-app".',
  ],
  [
    'an action as filter',
    () => make().hooks.addFilter('sessmgr_init', 'my-app', () => true),
    'It is an action: use addAction.',
  ],
  [
    'Koa without its application',
    () => koaSessmgr(make(), undefined as Anything),
    'app.use(koaSessmgr(limiter, app)).',
  ],
  [
    'Koa the other way round',
    () => koaSessmgr(new Koa() as Anything, make()),
    'must be the limiter that sessmgr() returned: app.use(koaSessmgr(limiter, app)).',
  ],
  [
    'Fastify without the limiter',
    () => Fastify().register(fastifySessmgr as Anything, make()),
    'fastify.register(fastifySessmgr, { limiter }).',
  ],
  [
    'Fastify without sessions',
    () => Fastify().register(fastifySessmgr, { limiter: make() }),
    'Register @fastify/session before sessmgr',
  ],
  ['token sessions without the limiter', () => tokenSessions(undefined as Anything), 'tokenSessions(limiter).'],
  ['connections of the application', () => liveConnections(express() as Anything), 'liveConnections(limiter).'],
  ['the user for the id', () => make().sessions.endAll({ id: 7 }), 'got an object. Pass user.id instead of user.'],
  ['nobody for the id', () => make().sessions.list(undefined), 'Check that the user is signed in'],
  [
    'a token without its user',
    () => make().sessions.end('a'.repeat(64)),
    'needs a token, as in request.sessmgr.session.token or sessions.list()',
  ],
  [
    'a setting that does not exist',
    () => make().settings.update({ max: 3 }),
    'max is unknown (did you mean "maximum"?). Nothing was changed.',
  ],
  ['a password without a name', () => make().passwords.create(7), "needs a name, such as 'backup script'."],
  ['the user for the id, to erase', () => make().eraseUser({ id: 7 }), 'Pass user.id instead of user.'],
]

test.each(REFUSED)('%s: the error says what to write', async (_what, run, message) => {
  const error = await Promise.resolve()
    .then(run)
    .then(
      () => undefined,
      (given) => given,
    )
  expect(error?.message).toContain(message)
  // One or two sentences, besides what follows a stop.
  expect(String(error.message).split(/(?<=[.?!]) (?=[A-Z])/).length).toBeLessThanOrEqual(3)
  expect(error.message.length).toBeLessThan(300)
  expect(error.code).toMatch(/^[a-z_]+$/)
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

const login =
  (limiter: Sessmgr): RequestHandler =>
  (req, res, next) =>
    void limiter.login(req, { id: 7 }).then(() => res.sendStatus(204), next)

describe('what shows only at a login', () => {
  test.each<[string, (app: express.Express, limiter: Sessmgr) => void, string]>([
    [
      'no session middleware',
      (app, limiter) => app.use(limiter),
      'app.use(session({ store, secret, resave: false, saveUninitialized: false }))',
    ],
    [
      'sessions in the cookie',
      (app, limiter) => app.use(cookieSession({ name: 's', keys: ['k'] }), limiter),
      'as with cookie-session',
    ],
    ['sessmgr before the sessions', (app, limiter) => app.use(limiter, session(SESSION)), 'after app.use(session(…)).'],
  ])('%s: the error says what to write', async (_what, use, message) => {
    const browser = await start((app, limiter) => {
      use(app, limiter)
      app.post('/login', login(limiter))
    })
    const answer = await browser.post('/login')
    expect([answer.status, answer.json<{ message: string }>().message]).toEqual([500, expect.stringContaining(message)])
  })
})
