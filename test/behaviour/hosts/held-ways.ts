import { promisify } from 'node:util'
import { MemoryStore } from '@fastify/session'
import type { Request, Response } from 'express'
import type { FastifyRequest } from 'fastify'
import type { Context } from 'koa'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import type { HostSetup, HostUnderTest } from '../../support/host-under-test.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { findUser } from '../../support/users.ts'

type Data = Record<string, unknown>
type Done = (error?: unknown) => void

const ANOTHER = findUser('user500') as Express.User

/** Signs the other user out again who is signed in when the way back is refused. */
async function orElse(login: Promise<unknown>, signOut: () => Promise<unknown>): Promise<void> {
  try {
    await login
  } catch (error) {
    await signOut()
    throw error
  }
}

/** The way that is over also when nobody else has ended the session. */
export const BY_THE_STORE = "the store's destroy, and generate"

/** An application whose routes `POST /way/<way>` try to go on signed in, each in another way, with the user in `username`. */
export interface HeldHost {
  readonly ways: readonly string[]
  start(setup: HostSetup): Promise<HostUnderTest>
}

const withoutCookie = ({ cookie: _, ...kept }: Data): Data => kept
const run = (call: (done: Done) => unknown) => promisify(call as (done: (error: unknown) => void) => void)()

/** The ways of an application on Express. Each is given the data of its session as it was loaded. */
const express: Record<string, (req: Request, before: Data, user: Express.User) => Promise<unknown>> = {
  'req.login': (req, _, user) => run((done) => req.login(user, done)),
  'req.login with keepSessionInfo': (req, _, user) =>
    run((done) => req.login(user, { session: true, keepSessionInfo: true }, done)),
  'two req.login at once': (req, _, user) =>
    Promise.all([run((done) => req.login(user, done)), run((done) => req.login(user, done))]),
  'req.logout and req.login': async (req, _, user) => {
    await run((done) => req.logout(done))
    await run((done) => req.login(user, done))
  },
  'req.login of another user, and back': async (req, _, user) => {
    await run((done) => req.login(ANOTHER, done))
    await orElse(
      run((done) => req.login(user, done)),
      () => run((done) => req.logout(done)),
    )
  },
  'req.login of another user, then regenerate': async (req, before) => {
    await run((done) => req.login(ANOTHER, done))
    await run((done) => req.session.regenerate(done))
    Object.assign(req.session, before)
  },
  regenerate: async (req, before) => {
    await run((done) => req.session.regenerate(done))
    Object.assign(req.session, before)
  },
  'regenerate twice': async (req, before) => {
    await run((done) => req.session.regenerate(done))
    await run((done) => req.session.regenerate(done))
    Object.assign(req.session, before)
  },
  'destroy and generate': async (req, before) => {
    await run((done) => req.session.destroy(done))
    generate(req)
    Object.assign(req.session, before)
  },
  'destroy and generate at once': async (req, before) => {
    req.session.destroy(() => {})
    generate(req)
    Object.assign(req.session, before)
  },
  // The store cannot tell who destroys a session by it: such a one is over, whoever it was.
  [BY_THE_STORE]: async (req, before) => {
    await run((done) => req.sessionStore.destroy(req.sessionID, done))
    generate(req)
    Object.assign(req.session, before)
  },
  generate: async (req, before) => {
    generate(req)
    Object.assign(req.session, before)
  },
  'createSession under another id': async (req, before) => {
    const { cookie } = req.session
    Object.assign(req, { sessionID: `another${Math.random()}` })
    req.sessionStore.createSession(req, { ...before, cookie } as never)
    Object.assign(req.session, { held: 'late' })
  },
  'createSession under its own id': async (req, before) => {
    const { cookie } = req.session
    req.sessionStore.createSession(req, { ...before, cookie } as never)
    Object.assign(req.session, { held: 'late' })
  },
  reload: async (req) => {
    await run((done) => req.session.reload(done))
    Object.assign(req.session, { held: 'late' })
  },
  save: async (req) => {
    Object.assign(req.session, { held: 'late' })
    await run((done) => req.session.save(done))
  },
}

function generate(req: Request): void {
  ;(req.sessionStore as unknown as { generate(req: Request): void }).generate(req)
}

const fastify: Record<string, (request: FastifyRequest, before: Data, user: Express.User) => Promise<unknown>> = {
  'request.logIn': (request, _, user) => request.logIn(user),
  'request.logIn with keepSessionInfo': (request, _, user) => request.logIn(user, { keepSessionInfo: true }),
  'two request.logIn at once': (request, _, user) => Promise.all([request.logIn(user), request.logIn(user)]),
  'request.logOut and request.logIn': async (request, _, user) => {
    await request.logOut()
    await request.logIn(user)
  },
  'request.logIn of another user, and back': async (request, _, user) => {
    await request.logIn(ANOTHER)
    await orElse(request.logIn(user), () => request.logOut())
  },
  regenerate: async (request, before) => {
    await request.session.regenerate()
    Object.assign(request.session, before)
  },
  'regenerate with keys': async (request, before) => {
    await request.session.regenerate(Object.keys(before) as never)
    Object.assign(request.session, before)
  },
  reload: async (request) => {
    await request.session.reload()
    Object.assign(request.session, { held: 'late' })
  },
  'reload, and what was there': async (request, before) => {
    await request.session.reload()
    Object.assign(request.session, before)
  },
  save: async (request) => {
    Object.assign(request.session, { held: 'late' })
    await request.session.save()
  },
}

const koa: Record<string, (ctx: Context, before: Data, user: Express.User) => Promise<unknown>> = {
  'ctx.login': (ctx, _, user) => ctx.login(user),
  'two ctx.login at once': (ctx, _, user) => Promise.all([ctx.login(user), ctx.login(user)]),
  'ctx.logout and ctx.login': async (ctx, _, user) => {
    await ctx.logout()
    await ctx.login(user)
  },
  'ctx.login of another user, and back': async (ctx, _, user) => {
    await ctx.login(ANOTHER)
    await orElse(ctx.login(user), () => ctx.logout())
  },
  regenerate: (ctx) => (ctx.session as unknown as { regenerate(): Promise<void> }).regenerate(),
  'another session': async (ctx, before) => {
    ctx.session = { ...before, held: 'late' } as never
  },
  'none, then another': async (ctx, before) => {
    ctx.session = null
    ctx.session = { ...before, held: 'late' } as never
  },
  'none, saved, then another': async (ctx, before) => {
    ctx.session = null
    await (ctx.session as unknown as { manuallyCommit?(): Promise<void> } | null)?.manuallyCommit?.()
    ctx.session = before as never
    await (ctx.session as unknown as { regenerate(): Promise<void> }).regenerate()
  },
  save: async (ctx) => {
    Object.assign(ctx.session as object, { held: 'late' })
    await (ctx.session as unknown as { save(): Promise<void> }).save()
  },
}

const startExpress = (version: 4 | 5) => (setup: HostSetup) =>
  startExpressHost({
    ...setup,
    express: version,
    further({ app, limiter }) {
      const ways = { ...express, 'limiter.login': direct(limiter) }
      app.post('/way/:way', (req: Request, res: Response, next) => {
        const user = findUser(req.body.username) as Express.User
        const way = ways[req.params.way as keyof typeof ways] as (typeof express)[string]
        way(req, JSON.parse(JSON.stringify(withoutCookie({ ...req.session }))), user).then(
          () => res.sendStatus(204),
          next,
        )
      })
    },
  })

/** `limiter.login`, and the application's own note of the user, where sessmgr cannot read it. */
function direct(limiter: HostUnderTest['limiter']) {
  return async (request: Request | FastifyRequest | Context, _: Data, user: Express.User) => {
    await limiter.login(request as never, user)
    Object.assign(request.session as object, { userId: user.id })
  }
}

const startFastify = (own: boolean) => (setup: HostSetup) =>
  startFastifyHost({
    ...setup,
    ...(own ? { store: new MemoryStore() } : {}),
    further({ app, limiter }) {
      const ways = { ...fastify, 'limiter.login': direct(limiter) }
      app.post('/way/:way', async (request, reply) => {
        const user = findUser((request.body as { username: string }).username) as Express.User
        const way = ways[(request.params as { way: keyof typeof ways }).way] as (typeof fastify)[string]
        await way(request, JSON.parse(JSON.stringify(withoutCookie({ ...request.session }))), user)
        return reply.code(204).send()
      })
    },
  })

const startKoa = (setup: HostSetup) =>
  startKoaHost({
    ...setup,
    further: ({ limiter }) =>
      Object.fromEntries(
        Object.entries({ ...koa, 'limiter.login': direct(limiter) }).map(([name, way]) => [
          `POST /way/${encodeURIComponent(name)}`,
          async (ctx: Context) => {
            const { username } = (ctx.request as unknown as { body: Record<string, string> }).body
            const user = findUser(String(username)) as Express.User
            await (way as (typeof koa)[string])(ctx, JSON.parse(JSON.stringify(ctx.session)), user)
            ctx.status = 204
          },
        ]),
      ),
  })

/** Every kind of application, and what a request can do there to stay signed in. */
export const HELD_HOSTS: Readonly<Record<string, HeldHost>> = {
  'Express 5': { ways: [...Object.keys(express), 'limiter.login'], start: startExpress(5) },
  'Express 4': { ways: [...Object.keys(express), 'limiter.login'], start: startExpress(4) },
  Fastify: { ways: [...Object.keys(fastify), 'limiter.login'], start: startFastify(false) },
  'Fastify on its own store': { ways: [...Object.keys(fastify), 'limiter.login'], start: startFastify(true) },
  Koa: { ways: [...Object.keys(koa), 'limiter.login'], start: startKoa },
}
