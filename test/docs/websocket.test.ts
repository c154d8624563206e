import { once } from 'node:events'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { type AddressInfo, connect } from 'node:net'
import type { Duplex } from 'node:stream'
import express from 'express'
import session from 'express-session'
import ts from 'typescript'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { sessmgr } from '../../src/index.ts'
import * as door from '../../src/live.ts'

import { upgradeHeaders } from '../support/live-clients.ts'
import { createRestUsers } from '../support/rest-users.ts'
import { codeBlocks, pageAt } from './pages.ts'

const ORIGIN = 'https://example.com'

/** What a page of the site sends to open a WebSocket, or one of another origin, or a client that names none. */
const headersOf = (cookie: string, origin: string | undefined = ORIGIN) =>
  upgradeHeaders(ORIGIN, '/live', cookie).replace(/^Origin: .*\r\n/m, origin && `Origin: ${origin}\r\n`)

/** Runs the code of docs/live.md in a server that greets whoever it lets in. */
async function start() {
  const app = express()
  const limiter = sessmgr({ logger: { warn() {}, error() {} } })
  const store = new session.MemoryStore()
  const [block] = codeBlocks(pageAt('docs/live.md')).filter(({ code }) => code.includes('live.upgrade('))
  const { outputText } = ts.transpileModule(block?.code.replace('server.listen(3000)', '') ?? '', {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  })
  const names = ['require', 'exports', 'app', 'session', 'sessionStore', 'secret', 'limiter']
  const run = new Function(...names, `${outputText}\nreturn { server, live }`)
  const require = createRequire(import.meta.url)
  const load = (name: string) => (name === 'sessmgr/live' ? door : require(name))
  const { server, live }: { server: Server; live: door.LiveConnections } = run(
    load,
    {},
    app,
    session,
    store,
    'test',
    limiter,
  )
  app.get('/in', async (req, res) => {
    await limiter.login(req, createRestUsers()[0])
    res.send('in')
  })
  const listeners: number[] = []
  server.on('upgrade', (_request, socket: Duplex) => listeners.push(socket.listenerCount('error')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await live.close()
    await limiter.close()
  })
  const { port } = server.address() as AddressInfo
  const signedIn = await fetch(`http://127.0.0.1:${port}/in`)
  return { port, listeners, cookie: String(signedIn.headers.getSetCookie()[0]?.split(';')[0]) }
}

describe('the code for WebSockets', () => {
  let started: Awaited<ReturnType<typeof start>>
  beforeEach(async () => {
    started = await start()
  })

  async function upgrade(...headers: Parameters<typeof headersOf>): Promise<string> {
    const socket = connect(started.port, '127.0.0.1')
    let text = ''
    socket.on('data', (part) => {
      text += part
      if (text.startsWith('HTTP/1.1 101')) socket.destroy()
    })
    socket.write(headersOf(...headers))
    await once(socket, 'close')
    return text.slice(0, 12)
  }

  it('lets in who is signed in and comes from a page of the site, and nobody else', async () => {
    const { cookie } = started
    expect(await upgrade(cookie)).toBe('HTTP/1.1 101')
    expect(await upgrade('')).toBe('HTTP/1.1 401')
    expect(await upgrade(cookie, 'https://evil.example')).toBe('HTTP/1.1 403')
    expect(await upgrade(cookie, '')).toBe('HTTP/1.1 403')
  })

  it('survives clients that reset their connection', async () => {
    for (let tries = 0; tries < 20; tries++) {
      const socket = connect(started.port, '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.write(headersOf(''), () => socket.resetAndDestroy())
      await once(socket, 'close')
    }
    // Whether or not a reset was noticed in time, it would have been heard.
    expect(await upgrade('')).toBe('HTTP/1.1 401')
    expect(Math.min(...started.listeners)).toBeGreaterThan(0)
  })
})
