import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import session from 'express-session'
import type { Server } from 'socket.io'
import { io as connect, type Socket } from 'socket.io-client'
import { expect, it, onTestFinished } from 'vitest'
import { memoryStore, type Sessmgr, sessmgr, type Token, tokenOf } from '../../src/index.ts'
import * as door from '../../src/live.ts'
import { fakeClock } from '../../src/testing.ts'
import { nodeRequire, runBlock } from './recipe-app.ts'

const ORIGIN = 'https://example.com'

/** What the recipe declares. */
interface Recipe {
  readonly server: HttpServer
  readonly io: Server
  readonly live: door.LiveConnections
}

/** Runs the server of docs/live.md, in an application that obeys its signed-in clients. */
async function start() {
  const clock = fakeClock()
  const limiter = sessmgr({
    store: memoryStore({ clock }),
    settings: { maximum: 2 },
    touchEvery: 0,
    logger: { warn() {}, error() {} },
  })
  const app = express()
  const names = { app, limiter, session, sessionStore: new session.MemoryStore(), secret: 'test' }
  const require = (name: string) => (name === 'sessmgr/live' ? door : nodeRequire(name))
  const { server, io, live } = runBlock('live', 3, { ...names, require }, '{ server, io, live }') as Recipe
  app.post('/login', async (req, res) => {
    await limiter.login(req, { id: 7 })
    res.json(tokenOf(req.sessionID))
  })
  const heard: string[] = []
  io.on('connection', (socket) => {
    socket.on('message', (text: string, done?: () => void) => {
      heard.push(text)
      done?.()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    await live.close()
    await io.close()
    await limiter.close()
  })
  return { limiter, live, io, clock, heard, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

type App = Awaited<ReturnType<typeof start>>

async function signIn({ url }: App, old = '') {
  const response = await fetch(`${url}/login`, { method: 'POST', headers: { cookie: old } })
  const [cookie = ''] = String(response.headers.getSetCookie()[0]).split(';')
  return { cookie, token: (await response.json()) as Token }
}

/** Opens a socket. `opened` resolves to how that went, `closed` to the end that the server told, and the reason. */
function open({ url }: App, cookie: string, origin = ORIGIN, transports: 'polling' | 'websocket' = 'websocket') {
  const socket = connect(url, { forceNew: true, transports: [transports], extraHeaders: { cookie, origin } })
  onTestFinished(() => void socket.close())
  const ends: unknown[] = []
  socket.on('session_end', (end) => ends.push(end))
  const closed = new Promise<unknown[]>((resolve) => socket.once('disconnect', (reason) => resolve([...ends, reason])))
  return { socket, closed, opened: outcomeOf(socket) }
}

const outcomeOf = (socket: Socket) =>
  new Promise<string>((resolve) => {
    socket.once('connect', () => resolve('open'))
    socket.once('connect_error', ({ message }) => resolve(message))
  })

/** Ends a session, as the application does. */
type End = (limiter: Sessmgr, token: Token) => Promise<unknown>

it.each<[kind: string, end: End]>([
  ['app', (limiter, token) => limiter.sessions.end(7, token)],
  ['admin', (limiter, token) => limiter.sessions.end(7, token, { by: 'admin' })],
  ['logout_all', (limiter) => limiter.sessions.logoutAllUsers()],
])('live.md, socket.io: a session that ends as %s closes its socket, which is then refused', async (kind, end) => {
  const app = await start()
  const { cookie, token } = await signIn(app)
  const { socket, opened, closed } = open(app, cookie)
  expect(await opened).toBe('open')
  expect(app.live.size).toBe(1)
  const again = closed.then(() => outcomeOf(socket))
  await end(app.limiter, token)
  expect(await closed).toEqual([{ code: 'session_ended', kind }, 'transport close'])
  expect(await again).toBe('session_ended')
  // A client that the application refuses does not try again.
  expect(socket.active).toBe(false)
  expect(app.live.size).toBe(0)
})

it('live.md, socket.io: the sockets of the other sessions of a user stay open', async () => {
  const app = await start()
  const [first, second] = [await signIn(app), await signIn(app)]
  const [one, other] = [open(app, first.cookie), open(app, second.cookie)]
  expect([await one.opened, await other.opened]).toEqual(['open', 'open'])
  await app.limiter.sessions.end(7, first.token)
  await one.closed
  other.socket.emit('message', 'still here')
  await expect.poll(() => app.heard).toEqual(['still here'])
  other.socket.close()
  await expect.poll(() => app.live.size).toBe(0)
})

it('live.md, socket.io: after a login with the same browser, the client hears that it may reconnect', async () => {
  const app = await start()
  const { cookie } = await signIn(app)
  const { opened, closed } = open(app, cookie)
  expect(await opened).toBe('open')
  await signIn(app, cookie)
  expect(await closed).toEqual([expect.objectContaining({ code: 'session_replaced' }), 'transport close'])
})

it('live.md, socket.io: a handshake is refused without a session, from another site, and with long polling', async () => {
  const app = await start()
  const { cookie } = await signIn(app)
  expect(await open(app, '').opened).toBe('session_ended')
  expect(await open(app, cookie, 'https://evil.example').opened).toBe('websocket error')
  expect(await open(app, cookie, '').opened).toBe('websocket error')
  expect(await open(app, cookie, ORIGIN, 'polling').opened).toBe('xhr poll error')
  expect(app.live.size).toBe(0)
})

it('live.md, socket.io: a socket is closed if its session ends during the handshake', async () => {
  const app = await start()
  const { cookie, token } = await signIn(app)
  app.io.use((_socket, next) => void app.limiter.sessions.end(7, token).then(() => next()))
  expect(await open(app, cookie).closed).toEqual([{ code: 'session_ended' }, 'transport close'])
  expect(app.live.size).toBe(0)
})

it('live.md, socket.io: nothing that comes after the end of the session is heard', async () => {
  const app = await start()
  const { cookie, token } = await signIn(app)
  const { socket, opened, closed } = open(app, cookie)
  await opened
  await socket.emitWithAck('message', 'before')
  await app.limiter.sessions.end(7, token)
  // The client does not know yet.
  expect(socket.connected).toBe(true)
  socket.emit('message', 'after')
  await closed
  expect(app.heard).toEqual(['before'])
})

it('live.md, socket.io: an event of the client counts as use of the session', async () => {
  const app = await start()
  const { cookie } = await signIn(app)
  const { socket, opened } = open(app, cookie)
  await opened
  const lastSeen = async () => Number((await app.limiter.sessions.list(7))[0]?.lastSeenAt)
  const before = await lastSeen()
  app.clock.advance(60_000)
  socket.emit('message', 'hello')
  await expect.poll(lastSeen).toBe(before + 60_000)
})
