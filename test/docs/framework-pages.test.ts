import { createRequire } from 'node:module'
import supertest from 'supertest'
import ts from 'typescript'
import { expect, it, onTestFinished, vi } from 'vitest'
import * as explicitDoor from '../../src/explicit.ts'
import * as fastifyDoor from '../../src/fastify.ts'
import * as fetchDoor from '../../src/fetch.ts'
import * as mainDoor from '../../src/index.ts'
import { type Sessmgr, type SessmgrOptions, sessmgr } from '../../src/index.ts'
import * as koaDoor from '../../src/koa.ts'
import { codeBlocks, pageAt } from './pages.ts'
import type { Names } from './recipe-app.ts'

const nodeRequire = createRequire(import.meta.url)
const WAITING = Object.getPrototypeOf(async () => {}).constructor as FunctionConstructor

/** Runs the first program of a page, and returns what it exports. */
async function run<Made>(page: string): Promise<Made> {
  const { code = '' } = codeBlocks(pageAt(`docs/${page}.md`)).find(({ language }) => language === 'ts') ?? {}
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true }
  const { outputText } = ts.transpileModule(code, { compilerOptions })
  const create = (options: SessmgrOptions) => {
    const limiter = sessmgr({ logger: { warn() {}, error() {} }, ...options })
    onTestFinished(() => limiter.close())
    return limiter
  }
  const packages: Names = {
    sessmgr: { ...mainDoor, sessmgr: create },
    'sessmgr/fastify': fastifyDoor,
    'sessmgr/koa': koaDoor,
    'sessmgr/fetch': fetchDoor,
    'sessmgr/explicit': explicitDoor,
  }
  const exports = {}
  const names: Names = {
    require: (name: string) => packages[name] ?? nodeRequire(name),
    exports,
    secret: 's'.repeat(32),
    checkPassword: async () => ({ id: 7 }),
    ...(!code.includes("from 'sessmgr'") && { sessmgr: create }),
  }
  await new WAITING(...Object.keys(names), outputText)(...Object.values(names))
  return exports as Made
}

/** Signs in from three browsers, and expects the first one to be signed out. */
async function signInThrice(server: Parameters<typeof supertest.agent>[0], limiter: Sessmgr) {
  const [first, second, third] = [supertest.agent(server), supertest.agent(server), supertest.agent(server)]
  for (const browser of [first, second, third]) expect((await browser.post('/login')).ok).toBe(true)
  for (const [browser, state] of [
    [first, 'ended'],
    [second, 'session'],
    [third, 'session'],
  ] as const)
    expect((await browser.get('/state')).text).toBe(state)
  await third.post('/logout').expect(204)
  expect(await limiter.sessions.count(7)).toBe(1)
}

it('fastify.md: the third login signs the first browser out', async () => {
  const { server, limiter } = await run<{ server: import('fastify').FastifyInstance; limiter: Sessmgr }>('fastify')
  onTestFinished(() => server.close())
  server.get('/state', async (request) => Object.keys(request.sessmgr)[0])
  await server.ready()
  await signInThrice(server.server, limiter)
})

it('koa.md: the third login signs the first browser out', async () => {
  const { server, limiter } = await run<{ server: import('koa'); limiter: Sessmgr }>('koa')
  server.use((ctx) => {
    ctx.body = Object.keys(ctx.sessmgr)[0]
  })
  await signInThrice(server.callback(), limiter)
})

it('fetch.md: the third login ends the first session', async () => {
  const { onLogin, onRequest, devices } = await run<{
    onLogin(request: Request, userId: string): Promise<{ admitted: boolean }>
    onRequest(request: Request, sessionId: string): Promise<mainDoor.RequestState>
    devices(request: Request): Promise<Response | undefined>
  }>('fetch')
  const spy = vi.spyOn(crypto, 'randomUUID')
  onTestFinished(() => spy.mockRestore())
  const request = () => new Request('http://app.test/devices')
  for (const _ of [1, 2, 3]) expect(await onLogin(request(), 'alice')).toMatchObject({ admitted: true })
  const ids = spy.mock.results.map(({ value }) => String(value))
  const states = await Promise.all(ids.map((id) => onRequest(request(), id)))
  expect(states.map((state) => Object.keys(state)[0])).toEqual(['ended', 'session', 'session'])
  const own = request()
  await onRequest(own, ids[2] ?? '')
  expect((await devices(own))?.status).toBe(200)
})

it('explicit.md: the third login ends the first session, and a login replaces the browser’s own', async () => {
  const { onLogin, onRequest, onLogout } = await run<{
    onLogin(userId: string, replaces?: string): Promise<{ sessionId?: string }>
    onRequest(sessionId: string): Promise<mainDoor.RequestState>
    onLogout(sessionId: string): Promise<void>
  }>('explicit')
  const login = async (replaces?: string) => (await onLogin('alice', replaces)).sessionId ?? ''
  const [first, second, third] = [await login(), await login(), await login()]
  const again = await login(third)
  const statesOf = async (ids: readonly string[]) =>
    (await Promise.all(ids.map(onRequest))).map((state) => Object.keys(state)[0])
  expect(await statesOf([first, second, third, again])).toEqual(['ended', 'session', 'ended', 'session'])
  await onLogout(second)
  expect(await statesOf([second, again])).toEqual(['ended', 'session'])
})
