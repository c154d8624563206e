import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import fastifyCookie from '@fastify/cookie'
import fastifyPassport from '@fastify/passport'
import fastifySession, { type FastifySessionOptions } from '@fastify/session'
import express from 'express'
import session from 'express-session'
import fc from 'fast-check'
import fastify from 'fastify'
import Koa from 'koa'
import { KoaPassport } from 'koa-passport'
import koaSession from 'koa-session'
import passport from 'passport'
import { expect } from 'vitest'
import { explicitCalls } from '../../src/explicit.ts'
import { fastifySessmgr } from '../../src/fastify.ts'
import { type Sessmgr, sessmgr } from '../../src/index.ts'
import { koaSessmgr } from '../../src/koa.ts'
import { Browser } from './browser.ts'
import type { LifeStores } from './life-stores.ts'
import { serve } from './serve.ts'

const DAY = 24 * 60 * 60_000

/** Milliseconds; null is a cookie that ends with the browser, and undefined leaves the life as it is. */
export type Life = number | null | undefined

/** The lives that an application gives a session. */
export interface LifeCase {
  /** The option of the framework's sessions. */
  readonly usual: number | null
  /** Set in the request of the login, before the framework's login. */
  readonly before?: Life
  /** Set while the framework logs in, once there is a new session. */
  readonly during?: Life
  /** Set in the request of the login, after it. */
  readonly after?: Life
  /** Set by the next request. */
  readonly later?: Life
}

/** Milliseconds until each of them expires. */
export interface Lives {
  /** Undefined if there is no session, and Infinity if it never expires. */
  readonly store: number | undefined
  /** Null is a cookie that ends with the browser; undefined if none was set. */
  readonly cookie: number | null | undefined
  /** Undefined if the registry has no session, or without sessmgr. */
  readonly registry: number | undefined
}

/** An application that signs in by `POST /login`, gives its session lives, and answers `/later` and `/`. */
interface LifeHost {
  readonly origin: string
  readonly cookie: string
  sessionIdIn(value: string): string
  close(): Promise<void>
}

interface Parts {
  readonly lives: LifeCase
  readonly stores: LifeStores
  readonly limiter: Sessmgr | undefined
}

type Open = (parts: Parts) => Promise<LifeHost>

const USER = { id: 2, login: 'alice' } as Express.User & { id: number }

/** Returns the id in a signed cookie of express-session or @fastify/session. */
const signed = (prefix: string) => (value: string) => decodeURIComponent(value).slice(prefix.length).split('.')[0] ?? ''

function give(cookie: { maxAge?: unknown }, life: Life): void {
  if (life !== undefined) cookie.maxAge = life
}

/** Express with Passport, or by `limiter.login`, which the framework alone does by regenerating and saving. */
const openExpress =
  (hasPassport: boolean): Open =>
  async ({ lives, stores, limiter }) => {
    const authentication = new passport.Authenticator()
    authentication.serializeUser(((req: express.Request, _user: unknown, done: (e: null, id: number) => void) => {
      give(req.session.cookie, lives.during)
      done(null, USER.id)
    }) as never)
    authentication.deserializeUser((_id, done) => done(null, USER))
    const app = express()
    const cookie = lives.usual === null ? {} : { maxAge: lives.usual }
    const store = stores.forCallbacks('Express') as session.Store
    app.use(session({ store, secret: 'test', resave: false, saveUninitialized: false, cookie }))
    if (limiter) app.use(limiter)
    if (hasPassport) app.use(authentication.session())
    const logIn = async (req: express.Request) => {
      if (hasPassport) return new Promise((resolve, reject) => req.logIn(USER, (it) => (it ? reject(it) : resolve(it))))
      if (limiter) await limiter.login(req, USER)
      else await new Promise((resolve) => req.session.regenerate(resolve))
      Object.assign(req.session, { userId: USER.id })
      give(req.session.cookie, lives.during)
      return new Promise((resolve) => req.session.save(resolve))
    }
    app.post('/login', async (req, res) => {
      give(req.session.cookie, lives.before)
      await logIn(req)
      give(req.session.cookie, lives.after)
      if (!hasPassport) Object.assign(req.session, { isDone: true })
      res.sendStatus(204)
    })
    app.get('/later', (req, res) => {
      give(req.session.cookie, lives.later)
      res.sendStatus(204)
    })
    app.get('/', (req, res) => void res.sendStatus(req.user || 'userId' in req.session ? 204 : 401))
    return { ...(await serve(app)), cookie: 'connect.sid', sessionIdIn: signed('s:') }
  }

async function openFastify({ lives, stores, limiter }: Parts): Promise<LifeHost> {
  const authentication = new fastifyPassport.Authenticator()
  authentication.registerUserSerializer(async (_user, request) => {
    give(request.session.cookie, lives.during)
    return USER.id
  })
  authentication.registerUserDeserializer(async () => USER)
  const app = fastify({ forceCloseConnections: true })
  await app.register(fastifyCookie)
  const cookie = { secure: false, ...(lives.usual !== null && { maxAge: lives.usual }) }
  const store = stores.forCallbacks('Fastify') as NonNullable<FastifySessionOptions['store']>
  await app.register(fastifySession, { secret: 'x'.repeat(32), saveUninitialized: false, cookie, store })
  if (limiter) await app.register(fastifySessmgr, { limiter })
  await app.register(authentication.initialize())
  await app.register(authentication.secureSession())
  app.post('/login', async (request, reply) => {
    give(request.session.cookie, lives.before)
    await request.logIn(USER)
    give(request.session.cookie, lives.after)
    return reply.code(204).send()
  })
  app.get('/later', async (request, reply) => {
    give(request.session.cookie, lives.later)
    return reply.code(204).send()
  })
  app.get('/', async (request, reply) => reply.code(request.user ? 204 : 401).send())
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  return { origin, cookie: 'sessionId', sessionIdIn: signed(''), close: () => app.close() }
}

async function openKoa({ lives, stores, limiter }: Parts): Promise<LifeHost> {
  /** Koa names a cookie that ends with the browser 'session'. */
  const giveKoa = (ctx: Koa.Context, life: Life) =>
    give(ctx.session as object, life === null ? ('session' as never) : life)
  const authentication = new KoaPassport()
  const app = new Koa()
  app.silent = true
  app.keys = ['test']
  authentication.serializeUser(((req: { ctx: Koa.Context }, _user: unknown, done: (e: null, id: number) => void) => {
    giveKoa(req.ctx, lives.during)
    done(null, USER.id)
  }) as never)
  authentication.deserializeUser((_id: number, done) => done(null, USER))
  app.use(koaSession({ maxAge: lives.usual ?? 'session', store: stores.forPromises() as never }, app))
  if (limiter) app.use(koaSessmgr(limiter, app))
  app.use(authentication.initialize() as Koa.Middleware)
  app.use(authentication.session() as Koa.Middleware)
  app.use(async (ctx) => {
    ctx.status = 204
    if (ctx.path === '/login') {
      giveKoa(ctx, lives.before)
      await ctx.login(USER)
      giveKoa(ctx, lives.after)
    } else if (ctx.path === '/later') {
      giveKoa(ctx, lives.later)
    } else if (!ctx.state.user) {
      ctx.status = 401
    }
  })
  return { ...(await serve(app.callback())), cookie: 'koa.sess', sessionIdIn: (value) => value }
}

/** A framework of its own, which tells sessmgr about its sessions. */
async function openExplicit({ lives, stores, limiter }: Parts): Promise<LifeHost> {
  const store = stores.forPromises()
  const storeLife = store.ttl === undefined ? 14 * DAY : store.ttl * 1000
  const host = { exists: async (id: string) => (await store.get(id)) !== undefined, destroy: store.destroy }
  const calls = limiter && explicitCalls(limiter, host)
  const idOf = ({ headers }: IncomingMessage) => headers.cookie?.split('=')[1]
  const server = await serve(async (request, response) => {
    let life = lives.usual
    let sessionId = idOf(request)
    const change = (next: Life) => {
      if (next !== undefined) life = next
    }
    const save = () => store.set(sessionId ?? '', { userId: USER.id, life }, life ?? undefined)
    if (request.url === '/login') {
      change(lives.before)
      change(lives.during)
      const create = async () => {
        sessionId = randomUUID()
        await save()
        return { sessionId, ttlMs: life ?? storeLife }
      }
      await (calls ? calls.login({ userId: USER.id }, create) : create())
      change(lives.after)
      await save()
    } else {
      life = ((await store.get(sessionId ?? ''))?.life ?? null) as number | null
      if (request.url === '/later') change(lives.later)
      await save()
    }
    await calls?.touch({ userId: USER.id, sessionId: sessionId ?? '', ttlMs: life ?? storeLife })
    const age = life === null ? '' : `; Max-Age=${Math.ceil(life / 1000)}`
    response.setHeader('Set-Cookie', `own=${sessionId}; Path=/${age}`).writeHead(204).end()
  })
  return { ...server, cookie: 'own', sessionIdIn: (value) => value }
}

/** Applications in every framework. */
const FRAMEWORKS = {
  Express: openExpress(true),
  'Express without Passport': openExpress(false),
  Fastify: openFastify,
  Koa: openKoa,
  'explicit calls': openExplicit,
} satisfies Record<string, Open>

export type Framework = keyof typeof FRAMEWORKS
export const EACH_FRAMEWORK = Object.keys(FRAMEWORKS) as Framework[]

const MINUTE = 60_000
/** How long a test may take between two measurements, and what koa-session adds to the life in its store. */
const SLACK_MS = 25_000

/** Lives from a minute to 400 days, and null. Other lives end the session, except in calls by the application. */
function lifeCases(framework: Framework): fc.Arbitrary<LifeCase> {
  const long = fc.oneof(fc.integer({ min: MINUTE, max: 400 * DAY }), fc.constantFrom(DAY, 14 * DAY))
  const usual = fc.oneof({ weight: 3, arbitrary: long }, fc.constant(null))
  const ending = fc.oneof({ weight: 6, arbitrary: usual }, fc.constantFrom(0, -1, -MINUTE))
  const own = fc.option(usual, { nil: undefined })
  const given = framework === 'explicit calls' ? own : fc.option(ending, { nil: undefined })
  // Without Passport, the application itself saves the session during the login, which ends it.
  const during = framework === 'Express without Passport' ? own : given
  return fc.record({ usual, before: given, during, after: given, later: given })
}

/**
 * Checks that sessions have the lives that they have without sessmgr, in the store and in the cookie, and that the
 * registry has the life of the store.
 */
export async function checkLives(framework: Framework, stores: LifeStores, runs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(lifeCases(framework), async (lives) => {
      const alone = await livesOf(framework, stores, lives, false)
      const limited = await livesOf(framework, stores, lives, true)
      for (const [index, { store, cookie, registry }] of limited.entries()) {
        // Some stores keep a session that is over for up to a second, and the framework then uses it again.
        const isOver = index > 0 && unlessOver(alone[index - 1]?.store) === undefined
        const at = `${framework}, ${stores.name}, ${JSON.stringify(lives)}, request ${index + 1}`
        expectNear(store, isOver ? undefined : alone[index]?.store, `store: ${at}`)
        if (!isOver) expectNear(cookie, alone[index]?.cookie, `cookie: ${at}`)
        // A registry does not keep sessions for ever.
        expectNear(registry, store === Number.POSITIVE_INFINITY ? 14 * DAY : store, `registry: ${at}`)
      }
    }),
    { numRuns: runs, interruptAfterTimeLimit: 90_000 },
  )
}

type Measured = number | null | undefined

/** Some stores keep a session that is over for some seconds. */
const unlessOver = (life: Measured): Measured => (typeof life === 'number' && life < SLACK_MS ? undefined : life)

function expectNear(found: Measured, expected: Measured, what: string): void {
  const [one, two] = [unlessOver(found), unlessOver(expected)]
  const isNear = typeof one === 'number' && typeof two === 'number' && Math.abs(one - two) < SLACK_MS
  if (!isNear) expect(one, what).toBe(two)
}

/**
 * Signs a user in and uses the session twice. Returns the lives after the login, after the request that sets another
 * life, and after the last request.
 */
export async function livesOf(
  framework: Framework,
  stores: LifeStores,
  lives: LifeCase,
  limited: boolean,
): Promise<Lives[]> {
  const registry = limited ? stores.registry() : undefined
  const logger = { warn() {}, error() {} }
  const limiter = limited
    ? sessmgr({ settings: { maximum: 1 }, logger, ...(registry && { store: registry }) })
    : undefined
  const host = await FRAMEWORKS[framework]({ lives, stores, limiter })
  try {
    const browser = new Browser(host.origin)
    const measured: Lives[] = []
    let sessionId = ''
    for (const [method, path] of [
      ['POST', '/login'],
      ['GET', '/later'],
      ['GET', '/'],
    ] as const) {
      const { status, setCookies } = await browser.request(method, path, {})
      if (status >= 500) throw new Error(`${framework} responds ${status} to ${path}`)
      const header = setCookies.find((it) => it.startsWith(`${host.cookie}=`))
      if (header && path === '/login') sessionId = host.sessionIdIn(header.split(/[=;]/)[1] ?? '')
      const expiry = await stores.expiry(sessionId)
      const [record] = limiter ? await limiter.sessions.list(USER.id) : []
      const now = Date.now()
      measured.push({
        store: expiry === undefined || expiry <= now ? undefined : expiry - now,
        cookie: header === undefined ? undefined : cookieLife(header, now),
        registry: record && record.expiresAt - now,
      })
    }
    return measured
  } finally {
    await host.close()
    await limiter?.close()
  }
}

function cookieLife(header: string, now: number): number | null {
  const age = /max-age=(-?\d+)/i.exec(header)?.[1]
  if (age !== undefined) return Number(age) * 1000
  const expires = /expires=([^;]+)/i.exec(header)?.[1]
  return expires === undefined ? null : new Date(expires).getTime() - now
}
