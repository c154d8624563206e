import 'reflect-metadata'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import {
  Controller,
  createParamDecorator,
  type DynamicModule,
  type ExecutionContext,
  Get,
  Module,
  type Type,
  UseGuards,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { JwtModule } from '@nestjs/jwt'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import express from 'express'
import session from 'express-session'
import express4 from 'express4'
import * as jose from 'jose'
import { Passport } from 'passport'
import ts from 'typescript'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { documentStore } from '../../src/document.ts'
import * as mainDoor from '../../src/index.ts'
import { type Sessmgr, type SessmgrOptions, sessmgr } from '../../src/index.ts'
import * as jwtDoor from '../../src/jwt.ts'
import { MemoryRows } from '../support/memory-driver.ts'
import { codeBlocks, pageAt, sectionOf } from './pages.ts'

const nodeRequire = createRequire(import.meta.url)
const OWN: Readonly<Record<string, unknown>> = { jose, sessmgr: mainDoor, 'sessmgr/jwt': jwtDoor }
const WAITING = Object.getPrototypeOf(async () => {}).constructor as FunctionConstructor

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

type Names = Readonly<Record<string, unknown>>
type Made = Readonly<Record<string, unknown>>

const JWT = 'docs/jwt.md'

/** Runs the program of a section, and returns what it declares under these names. */
async function run(section: string, names: Names, results: readonly string[] = [], path = JWT): Promise<Made> {
  const { code = '' } = codeBlocks({ path, text: sectionOf(pageAt(path), section).text })[0] ?? {}
  expect(code).not.toBe('')
  const compilerOptions = {
    module: ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2022,
    esModuleInterop: true,
    experimentalDecorators: true,
  }
  const { outputText } = ts.transpileModule(code, { compilerOptions })
  const require = (name: string) => OWN[name] ?? nodeRequire(name)
  const exports: Record<string, unknown> = {}
  const all: Names = { require, exports, ...names }
  const body = `${outputText}\nreturn { ...exports, ${results.join(', ')} }`
  return (await new WAITING(...Object.keys(all), body)(...Object.values(all))) as Made
}

/** What an application of a reader has. */
function reader(options: SessmgrOptions = {}) {
  const logger = { warn() {}, error() {} }
  const limiter = sessmgr({ settings: { maximum: 2, logic: 'logout_oldest' }, logger, ...options })
  onTestFinished(() => limiter.close())
  const checkPassword = async (form: unknown) => (Object(form).password === 'secret' ? { id: 7 } : undefined)
  const [secret, refreshSecret] = ['s'.repeat(32), 'r'.repeat(32)]
  return { limiter, logger, checkPassword, secret, refreshSecret, TextEncoder }
}

/** Serves requests, and returns where. */
async function served(listener: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(listener)
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

type Start = (names: ReturnType<typeof reader>) => Promise<string>

/** Returns `sign` and `read` of a library, and the token sessions of the application. */
async function tokensOf(library: string, names: ReturnType<typeof reader>): Promise<Made> {
  const own = await run(library, names, ['sign', 'read'])
  return { ...names, ...own, tokens: jwtDoor.tokenSessions(names.limiter) }
}

/** Starts an Express application with a library's tokens, and with the guard of another library if it is named. */
const onExpress =
  (library: string, guard?: string, framework = express): Start =>
  async (names) => {
    const app = framework().use(framework.json())
    // An application that also has sessions with cookies.
    app.use(session({ secret: 's', resave: false, saveUninitialized: false }), sessmgr({ logger: names.logger }))
    const { tokens: _, limiter, ...own } = await tokensOf(library, names)
    const routes = guard ? { post: app.post.bind(app), use() {} } : app
    const ownNames = { ...own, sessmgr: () => limiter, store: undefined, app: routes }
    const made = await run('The routes, in Express', ownNames, ['tokens'])
    if (guard) await run(guard, { ...own, ...made, app, passport: new Passport() })
    app.get('/me', (req, res) => void res.json(res.locals.claims ?? (req as { auth?: unknown }).auth ?? req.user))
    // As an application that shows no stack to anyone.
    const answer: express.ErrorRequestHandler = (error, _req, res, _next) =>
      void res
        .status(error.status ?? 500)
        .set(error.headers)
        .end()
    app.use(answer)
    return served(app)
  }

async function onNest(names: ReturnType<typeof reader>, adapter?: FastifyAdapter): Promise<string> {
  const { TokenGuard, TokenController } = (await run('@nestjs/jwt', await tokensOf('jose', names))) as Record<
    'TokenGuard' | 'TokenController',
    Type
  >
  const { SessmgrModule, CurrentSession } = (await run('The module', names, [], 'docs/nestjs.md')) as {
    SessmgrModule: { forRoot(limiter: Sessmgr): DynamicModule }
    CurrentSession: () => ParameterDecorator
  }
  class OwnController {
    me(user: object, session: object) {
      return { ...user, session }
    }
  }
  const own = OwnController.prototype
  const route = Object.getOwnPropertyDescriptor(own, 'me') as PropertyDescriptor
  for (const decorate of [Get('me'), UseGuards(TokenGuard)]) decorate(own, 'me', route)
  createParamDecorator((_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest().user)()(
    own,
    'me',
    0,
  )
  CurrentSession()(own, 'me', 1)
  Controller()(OwnController)
  class AppModule {}
  const imports = [SessmgrModule.forRoot(names.limiter), JwtModule.register({})]
  Module({ imports, controllers: [TokenController, OwnController] })(AppModule)
  const app = adapter
    ? await NestFactory.create(AppModule, adapter, { logger: false })
    : await NestFactory.create(AppModule, { logger: false })
  onTestFinished(() => app.close())
  await app.listen(0, '127.0.0.1')
  return (await app.getUrl()).replace('[::1]', '127.0.0.1')
}

const LIBRARIES: Readonly<Record<string, Start>> = {
  jose: onExpress('jose'),
  'jose on Express 4': onExpress('jose', undefined, express4),
  jsonwebtoken: onExpress('jsonwebtoken'),
  'jsonwebtoken on Express 4': onExpress('jsonwebtoken', undefined, express4),
  'express-jwt': onExpress('jsonwebtoken', 'express-jwt'),
  'passport-jwt': onExpress('jsonwebtoken', 'passport-jwt'),
  async '@fastify/jwt'(names) {
    const made = await run('@fastify/jwt', await tokensOf('jsonwebtoken', names))
    const { server } = made as { server: import('fastify').FastifyInstance }
    onTestFinished(() => server.close())
    return server.listen({ port: 0, host: '127.0.0.1' })
  },
  async 'koa-jwt'(names) {
    const { server } = (await run('koa-jwt', await tokensOf('jose', names))) as { server: import('koa') }
    server.silent = true
    server.use((ctx) => {
      ctx.body = ctx.state.user
    })
    return served(server.callback())
  },
  async 'hono/jwt'(names) {
    const { server } = (await run('hono/jwt', await tokensOf('jose', names))) as { server: import('hono').Hono }
    return served(getRequestListener(server.fetch))
  },
  '@nestjs/jwt on Express': (names) => onNest(names),
  '@nestjs/jwt on Fastify': (names) => onNest(names, new FastifyAdapter()),
}

/** A client of the application. */
function client(url: string) {
  const post = async (path: string, body?: object) => {
    const headers = { ...(body && { 'content-type': 'application/json' }), 'user-agent': FIREFOX }
    const response = await fetch(url + path, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) })
    const isOk = response.status === 200 || response.status === 201
    const isJson = response.headers.get('content-type')?.includes('json') === true
    const after = response.headers.get('retry-after')
    const text = await response.text()
    return { status: isOk ? 200 : response.status, after, body: isJson ? JSON.parse(text || '{}') : {} }
  }
  const me = async (access: string) => {
    const response = await fetch(`${url}/me`, { headers: { authorization: `Bearer ${access}` } })
    return { status: response.status, after: response.headers.get('retry-after'), text: await response.text() }
  }
  const login = async () => (await post('/login', { username: 'ada', password: 'secret' })).body
  return { post, me, login }
}

async function behaves(limiter: Sessmgr, url: string, tellsWhy: boolean): Promise<void> {
  const { post, me, login } = client(url)
  expect((await post('/login', { password: 'wrong' })).status).toBeGreaterThanOrEqual(401)
  const [first, second] = [await login(), await login()]
  expect((await limiter.sessions.list('7')).map(({ userAgent }) => userAgent)).toEqual([FIREFOX, FIREFOX])
  expect(await me(first.access)).toMatchObject({ status: 200, text: expect.stringContaining('"sub":"7"') })
  const third = await login()
  const displaced = await me(first.access)
  expect(displaced.status).toBe(401)
  if (tellsWhy) expect(displaced.text).toContain('"kind":"displaced"')
  const all = await Promise.all([1, 2, 3, 4, 5].map(() => post('/refresh', { token: second.refresh })))
  expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(new Set(all.map(({ body }) => body.refresh)).size).toBe(1)
  const next = (await post('/refresh', { token: all[0]?.body.refresh })).body
  expect((await me(next.access)).status).toBe(200)
  // Neither kind of token is taken for the other.
  expect((await post('/refresh', { token: next.access })).status).toBeGreaterThanOrEqual(401)
  expect((await me(next.refresh)).status).toBe(401)
  expect((await me('made.up.token')).status).toBe(401)
  for (const body of [undefined, {}, { token: 'made.up.token' }, { token: 1 }, { token: null }]) {
    expect((await post('/refresh', body)).status, JSON.stringify(body)).toBe(401)
  }
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30_000 })
  onTestFinished(() => void vi.useRealTimers())
  expect((await post('/refresh', { token: second.refresh })).status).toBe(401)
  expect((await me(next.access)).status).toBe(401)
  expect((await post('/logout', { token: third.refresh })).status).toBe(204)
  expect((await me(third.access)).status).toBe(401)
  const last = await login()
  await limiter.sessions.logoutAllUsers()
  expect((await me(last.access)).status).toBe(401)
  expect((await post('/refresh', { token: last.refresh })).status).toBe(401)
}

describe('the page on JWTs', () => {
  for (const [library, start] of Object.entries(LIBRARIES)) {
    it(`${library} limits, rotates, tells why and revokes`, async () => {
      const names = reader()
      await behaves(names.limiter, await start(names), !library.includes('passport'))
    })
  }

  it.each(Object.entries(LIBRARIES))('%s answers 503 while the store is down', async (library, start) => {
    const driver = new MemoryRows().driver()
    const names = reader({ store: documentStore(driver, { deadlineMs: 200 }) })
    const { post, me, login } = client(await start(names))
    const { access, refresh } = await login()
    driver.get = () => Promise.reject(new Error('down'))
    const refreshed = await post('/refresh', { token: refresh })
    const answers = [await me(access), refreshed, await post('/logout', { token: refresh })]
    for (const { status, after } of answers) expect([status, after]).toEqual([503, '2'])
    if (library.includes('nestjs')) expect(refreshed.body).toMatchObject({ code: 'store_unavailable', statusCode: 503 })
  })

  it('has at most 45 lines of code in a block', () => {
    const blocks = codeBlocks(pageAt(JWT))
    expect(blocks).toHaveLength(10)
    expect(blocks.filter(({ code }) => code.trim().split('\n').length > 45).map(({ line }) => line)).toEqual([])
  })
})
