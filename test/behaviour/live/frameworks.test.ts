import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastifyCookie from '@fastify/cookie'
import fastifySession from '@fastify/session'
import fastifyWebsocket from '@fastify/websocket'
import fastify from 'fastify'
import Koa, { type Context } from 'koa'
import session from 'koa-session'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { fastifySessmgr } from '../../../src/fastify.ts'
import { type Sessmgr, sessmgr } from '../../../src/index.ts'
import { koaSessmgr } from '../../../src/koa.ts'
import { type LiveConnections, liveConnections, type UpgradeMiddleware } from '../../../src/live.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { openSocket, openStream, signIn } from '../../support/live-clients.ts'

const SECRET = 'a secret of the tests, long enough for it'
const EVENTS = { 'Content-Type': 'text/event-stream' }

interface Parts {
  readonly limiter: Sessmgr
  readonly live: LiveConnections
}

/** Starts an application on Fastify and @fastify/websocket. */
async function startFastify({ limiter, live }: Parts): Promise<string> {
  const app = fastify({ forceCloseConnections: true })
  await app.register(fastifyCookie)
  const store = new JsonSessions().forCallbacks() as never
  await app.register(fastifySession, { secret: SECRET, saveUninitialized: false, cookie: { secure: false }, store })
  await app.register(fastifySessmgr, { limiter })
  await app.register(fastifyWebsocket)
  app.post<{ Params: { id: string } }>('/login/:id', async (request) => {
    await limiter.login(request, { id: Number(request.params.id) })
    return request.sessmgr.session
  })
  app.get('/ws', { websocket: true }, (socket, request) => {
    if (live.socket(request, socket)) socket.send('hello')
  })
  app.get('/events', (request, reply) => {
    reply.hijack()
    if (live.stream(request, reply)) reply.raw.writeHead(200, EVENTS).write('data: hello\n\n')
  })
  onTestFinished(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

/** Starts an application on Koa and ws. */
async function startKoa({ limiter, live }: Parts): Promise<string> {
  const app = new Koa()
  app.keys = ['test']
  const sessions = session({ store: new JsonSessions().forPromises() as never, signed: false }, app)
  const limit = koaSessmgr(limiter, app)
  app.use(sessions)
  app.use(limit)
  app.use(async (ctx) => {
    if (ctx.path.startsWith('/login/')) {
      const id = Number(ctx.path.slice('/login/'.length))
      await limiter.login(ctx, { id })
      Object.assign(ctx.session ?? {}, { id })
      ctx.body = ctx.sessmgr.session
    } else if (ctx.path === '/events') {
      ctx.respond = false
      if (live.stream(ctx, ctx)) ctx.res.writeHead(200, EVENTS).write('data: hello\n\n')
    }
  })
  const server = createServer(app.callback())
  const wss = new WebSocketServer({ noServer: true })
  const admit: UpgradeMiddleware = async (req, res, next) => {
    const ctx = app.createContext(req, res) as Context
    await sessions(ctx, () => limit(ctx as never, async () => {}) as Promise<void>)
    next()
  }
  live.upgrade(server, [admit], wss, { path: '/ws' })
  wss.on('connection', (socket: WebSocket) => socket.send('hello'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of wss.clients) socket.terminate()
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe.each([
  ['Fastify with @fastify/websocket', startFastify, /^4401 \{"code":"session_ended"\}$/],
  ['Koa with ws', startKoa, /^1006/],
])('on %s', (_, start, refused) => {
  it('WebSockets and event streams close with their session, and those of the same user go on', async () => {
    const limiter = sessmgr({ settings: { maximum: 2 }, logger: { warn() {}, error() {} } })
    const live = liveConnections(limiter)
    onTestFinished(async () => {
      await live.close()
      await limiter.close()
    })
    const origin = await start({ limiter, live })
    const [first, second] = [await signIn(origin, 7), await signIn(origin, 7)]
    const [socket, stream] = [await openSocket(origin, first), await openStream(origin, first)]
    // Asked for without `Accept: text/event-stream`.
    const plain = await fetch(`${origin}/events`, { headers: { cookie: first.cookie } })
    const others = [await openSocket(origin, second), await openStream(origin, second)]
    expect(live.size).toBe(5)
    await limiter.sessions.end(7, first.token)
    expect(await socket.closed).toBe('4401 {"code":"session_ended","kind":"app"}')
    for (const last of [await stream.closed, await plain.text()]) expect(last).toContain('event: sessmgr-ended')
    expect(others.map(({ isOpen }) => isOpen())).toEqual([true, true])
    // What has ended, or never began, is not let in again.
    for (const client of [first, { cookie: '' }]) {
      expect(await (await openSocket(origin, client)).closed).toMatch(refused)
      expect((await openStream(origin, client)).status).toBe(204)
    }
    others[0]?.close()
    others[1]?.close()
    await expect.poll(() => live.size).toBe(0)
  })
})
