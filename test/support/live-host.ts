import type { Server } from 'node:http'
import express, { type RequestHandler } from 'express'
import session from 'express-session'
import { onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { type Sessmgr, type SessmgrOptions, sessmgr } from '../../src/index.ts'
import { type LiveConnections, type LiveOptions, liveConnections } from '../../src/live.ts'
import { serve } from './serve.ts'

export interface LiveSetup {
  readonly sessmgr?: SessmgrOptions
  readonly live?: LiveOptions
  /** Shared by hosts that stand for several processes. */
  readonly sessionStore?: unknown
  /** Runs in an upgrade after its session was checked. */
  readonly beforeOpen?: () => Promise<unknown>
}

/** An application with WebSockets at `/ws` and event streams at `/events`. */
export interface LiveHost {
  readonly origin: string
  readonly limiter: Sessmgr
  readonly live: LiveConnections
  readonly server: Server
  /** What the application received in WebSockets. */
  readonly heard: string[]
  /** The WebSockets on the server. */
  readonly sockets: ReadonlySet<WebSocket>
  /** Everything that was logged. */
  readonly logs: unknown[][]
  close(): Promise<void>
}

/** Starts the application until the test is over. */
export async function startLiveHost(setup: LiveSetup = {}): Promise<LiveHost> {
  const host = await openLiveHost(setup)
  onTestFinished(host.close)
  return host
}

/** Starts the application until it is closed. */
async function openLiveHost(setup: LiveSetup = {}): Promise<LiveHost> {
  const logs: unknown[][] = []
  const log = (...line: unknown[]) => void logs.push(line)
  const limiter = sessmgr({ logger: { warn: log, error: log }, ...setup.sessmgr })
  const live = liveConnections(limiter, setup.live)
  const store = (setup.sessionStore ?? new session.MemoryStore()) as session.Store
  const sessions = session({ secret: 'test', resave: false, saveUninitialized: false, store })
  const app = express()
  app.set('env', 'test')
  app.use(sessions, limiter)
  app.post('/login/:id', async (req, res) => {
    await limiter.login(req, { id: Number(req.params.id) })
    res.json(req.sessmgr?.session)
  })
  app.post('/logout', async (req, res) => {
    await limiter.logout(req)
    res.end()
  })
  app.get('/events', (req, res) => {
    if (!live.stream(req, res)) return
    res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: hello\n\n')
  })
  app.get('/download', (req, res) => {
    if (live.stream(req, res)) res.writeHead(200, { 'Content-Type': 'text/plain' }).write('first part')
  })
  app.get('/page', (_req, res) => void res.send('<!doctype html><title>A page</title>'))
  app.get('/waiting', (req, res) => void live.stream(req, res))

  const { server, ...served } = await serve(app)
  const heard: string[] = []
  const wss = new WebSocketServer({ noServer: true })
  const last: RequestHandler = async (_req, _res, next) => {
    await setup.beforeOpen?.()
    next()
  }
  live.upgrade(server, [sessions, limiter, last], wss, { path: '/ws' })
  wss.on('connection', (socket) => {
    socket.on('message', (data) => void heard.push(String(data)))
    socket.send('hello')
  })
  return {
    origin: served.origin,
    limiter,
    live,
    server,
    heard,
    sockets: wss.clients,
    logs,
    async close() {
      await live.close()
      for (const socket of wss.clients) socket.terminate()
      await served.close()
      await limiter.close()
    },
  }
}
