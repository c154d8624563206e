import { createRequire } from 'node:module'
import fastifyCookie from '@fastify/cookie'
import fastifySession from '@fastify/session'
import express from 'express'
import session from 'express-session'
import Fastify from 'fastify'
import Koa from 'koa'
import koaSession from 'koa-session'
import supertest from 'supertest'
import { expect, it, onTestFinished } from 'vitest'
import * as fastifyDoor from '../../src/fastify.ts'
import { type Sessmgr, sessmgr } from '../../src/index.ts'
import * as koaDoor from '../../src/koa.ts'
import { JsonSessions } from '../support/json-sessions.ts'
import { codeBlocks, pageAt } from './pages.ts'
import { createApp, FORM, type Names, runBlock } from './recipe-app.ts'

type Device = ReturnType<typeof supertest.agent>

const ASKING = { settings: { maximum: 1, logic: 'ask' } } as const
const host = {
  users: {
    findById: (id: unknown) => ({ id }),
    findByEmail() {},
    findByLogin() {},
    summary: () => ({ id: 1, login: '', display_name: '' }),
  },
  can: () => false,
}

/** The application's own limiter, without warnings. */
function askingLimiter(): Sessmgr {
  const quiet = { warn() {}, error() {} }
  const limiter = sessmgr({ ...ASKING, sessionUser: ({ userId }) => userId as string, logger: quiet })
  onTestFinished(() => limiter.close())
  return limiter
}

/** Sends a choice as the recipe's script does. */
function choose(device: Device, data: object, tokens: readonly string[]) {
  const fetch = async (url: string, { headers, body }: { headers: Record<string, string>; body: string }) => {
    const response = await device.post(url).set(headers).send(body)
    return { json: async () => response.body }
  }
  const call = runBlock('devices', 7, { fetch }, 'choose') as (...given: unknown[]) => Promise<object>
  return call(data, tokens)
}

it('devices.md, in an app: a script chooses after a login by Passport, with a cookie or without', async () => {
  const page = { secretInBody: true, complete: undefined }
  const { app, limiter } = createApp(
    (names) => names.app.use('/login/choose', (names.limiter as Sessmgr).choice(page)),
    { ...ASKING, host: host as never },
  )
  const login = (device: Device) => device.post('/login').accept('json').type('form').send(FORM)
  const [laptop, phone, watch] = [supertest.agent(app), supertest.agent(app), supertest.agent(app)]
  await login(laptop).expect(302)
  const { body } = await login(phone).expect(409)
  const shown = JSON.parse(codeBlocks(pageAt('docs/devices.md'))[5]?.code ?? '')
  expect(Object.keys(body)).toEqual(Object.keys(shown))
  expect(Object.keys(body.data)).toEqual(Object.keys(shown.data))
  expect(Object.keys(body.data.sessions[0])).toEqual(Object.keys(shown.data.sessions[0]))
  expect(body.message).toBe(shown.message)
  expect((await phone.get('/login/choose').accept('json').expect(409)).body.code).toBe(body.code)
  expect(await choose(supertest.agent(app), body.data, [])).toMatchObject({ code: 'invalid_choice', data: { need: 1 } })
  expect(await choose(watch, body.data, [body.data.sessions[0].token])).toEqual({ signed_in: true, ended: 1 })
  await watch.get('/me').expect(200)
  await laptop.get('/me').expect(401)
  expect(await choose(phone, body.data, [])).toMatchObject({ code: 'login_choice_expired' })
  const { data } = (await login(phone)).body
  expect(await choose(phone, { choice_url: data.choice_url }, [data.sessions[0].token])).toMatchObject({ ended: 1 })
  expect(await limiter.sessions.count('alice')).toBe(1)
})

it('devices.md, in an app: without Passport, the application sends the choice', async () => {
  const app = express()
  const limiter = askingLimiter()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), limiter, express.json())
  const complete = async (request: express.Request, _response: unknown, user: { id: string }) => {
    await limiter.login(request, user)
    Object.assign(request.session, { userId: user.id })
  }
  app.use('/login/choose', limiter.choice({ complete, secretInBody: true }))
  app.post('/login', (req, res, next) => void complete(req, res, { id: 'alice' }).then(() => res.json({}), next))
  app.get('/me', (req, res) => void res.sendStatus(req.session.userId ? 200 : 401))
  runBlock('devices', 6, { app })
  const [laptop, phone] = [supertest.agent(app), supertest.agent(app)]
  await laptop.post('/login').expect(200)
  const { body } = await phone.post('/login').expect(409)
  expect(body).toMatchObject({ code: 'login_choice_required', data: { status: 409, need: 1 } })
  expect(await choose(phone, body.data, [body.data.sessions[0].token])).toEqual({ signed_in: true, ended: 1 })
  await phone.get('/me').expect(200)
  await laptop.get('/me').expect(401)
})

/** The function of a framework's page that mounts the choice without Passport. */
function mounting(framework: 'fastify' | 'koa', limiter: Sessmgr) {
  const index = codeBlocks(pageAt(`docs/${framework}.md`)).findIndex(({ code }) => code.includes('complete:'))
  const exports = {} as { mountChoice(server: unknown): Promise<void> | void }
  const doors: Names = { 'sessmgr/fastify': fastifyDoor, 'sessmgr/koa': koaDoor }
  const load = createRequire(import.meta.url)
  runBlock(framework, index, {
    exports,
    limiter,
    require: (name: string) => doors[name] ?? load(name),
    checkPassword: async () => ({ id: 7 }),
  })
  return exports.mountChoice
}

async function chooseOnPage(server: Parameters<typeof supertest.agent>[0], limiter: Sessmgr) {
  const [laptop, phone] = [supertest.agent(server), supertest.agent(server)]
  await laptop.post('/login').expect(302).expect('Location', '/')
  expect((await phone.post('/login')).headers.location).toBe('/login/choose')
  const { text } = await phone.get('/login/choose').expect(200)
  const [, proof] = /name="proof" value="([^"]+)"/.exec(text) ?? []
  const [, end] = /name="end" value="([^"]+)"/.exec(text) ?? []
  await phone.post('/login/choose').type('form').send({ proof, end, all: '1' }).expect(303).expect('Location', '/')
  await phone.get('/me').expect(200, '7')
  await laptop.get('/me').expect(401)
  expect(await limiter.sessions.count(7)).toBe(1)
}

it('fastify.md: without Passport, the page signs the user in', async () => {
  const limiter = askingLimiter()
  const server = Fastify()
  onTestFinished(() => server.close())
  await server.register(fastifyCookie)
  await server.register(fastifySession, {
    secret: 'x'.repeat(32),
    saveUninitialized: false,
    cookie: { secure: 'auto' },
  })
  await server.register(fastifyDoor.fastifySessmgr, { limiter })
  await mounting('fastify', limiter)(server)
  server.get('/me', async (request, reply) => {
    const { userId } = request.session as { userId?: number }
    return userId ? String(userId) : reply.code(401).send()
  })
  await server.ready()
  await chooseOnPage(server.server, limiter)
})

it('koa.md: without Passport, the page signs the user in', async () => {
  const limiter = askingLimiter()
  const server = new Koa()
  server.keys = ['test']
  server.use(koaSession({ store: new JsonSessions().forPromises() as never }, server))
  server.use(koaDoor.koaSessmgr(limiter, server))
  server.use(async (ctx, next) => {
    if (ctx.path !== '/me') return void (await next())
    ctx.status = ctx.session?.userId ? 200 : 401
    ctx.body = String(ctx.session?.userId ?? '')
  })
  mounting('koa', limiter)(server)
  await chooseOnPage(server.callback(), limiter)
})

it('getting-started.md, a second factor: in ask mode, the login waits for the choice after the code', async () => {
  const isCodeOf = async () => true
  const { app, limiter } = createApp(
    (all) => {
      all.app.use('/login/choose', (all.limiter as Sessmgr).choice())
      runBlock('getting-started', 14, { ...all, isCodeOf })
    },
    { ...ASKING, host: host as never },
  )
  const signIn = async (device: Device) => {
    await device.post('/login').type('form').send(FORM).expect(302)
    return (await device.post('/login/code').type('form').send({ code: '1' })).headers.location
  }
  expect([await signIn(supertest.agent(app)), await signIn(supertest.agent(app))]).toEqual(['/', '/login/choose'])
  expect(await limiter.sessions.count('alice')).toBe(1)
})
