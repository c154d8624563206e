import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import express from 'express'
import session from 'express-session'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { memoryStore, sessmgr } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import { Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { createGate, Gates } from '../../support/gates.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { listen } from '../../support/listen.ts'
import { TestStore } from '../../support/test-store.ts'

const ALICE = 2

const hosts = { Express: startExpressHost, Fastify: startFastifyHost, Koa: startKoaHost }
const paths = ['/login', '/direct-login']
const places = Object.entries(hosts).flatMap(([name, start]) => paths.map((path) => ({ name, path, start })))

/** Sends a login whose browser hangs up, as after a second click on the button. */
function sendLogin({ origin }: { readonly origin: string }, path: string) {
  const body = 'username=alice&password=secret'
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length }
  const opened = new Promise<Socket>((resolve) => {
    const note = (message: unknown) => {
      const { request, socket } = message as { request: { url: string }; socket: Socket }
      if (request.url === path) resolve(socket)
    }
    diagnostics.subscribe('http.server.request.start', note)
    onTestFinished(() => void diagnostics.unsubscribe('http.server.request.start', note))
  })
  const login = request(origin + path, { method: 'POST', agent: false, headers })
  login.on('error', () => {})
  login.end(body)
  return {
    /** Resolves once the server has noticed. */
    async hangUp() {
      const socket = await opened
      const closed = once(socket, 'close')
      login.destroy()
      await closed
    },
  }
}

describe.each(places)('rule 5: on $name, a login by $path whose browser has hung up', ({ path, start }) => {
  const settings = { maximum: 1, logic: 'block' }

  test('while it was under way, leaves no slot taken', async () => {
    const store = memoryStore()
    const commit = vi.spyOn(store.sessions, 'commit')
    const host = await start({ sessions: new JsonSessions(), sessmgr: { settings, store } })
    const gate = createGate()
    host.limiter.hooks.addFilter('sessmgr_bypass', 'test', async (value) => {
      await gate.pass()
      return value
    })
    const { hangUp } = sendLogin(host, path)
    await gate.arrived
    await hangUp()
    gate.open()
    // The session is written before the slot is taken, which nobody waits for any more.
    await expect.poll(() => commit.mock.settledResults.length).toBe(1)
    await expect.poll(() => host.limiter.sessions.count(ALICE)).toBe(0)
    const second = host.browser()
    expect((await second.login('alice', {}, path)).status).toBe(200)
    expect([await second.me(), await host.limiter.sessions.count(ALICE), host.errors]).toEqual([200, 1, []])
  })

  test('before it was answered, gives its slot back at once', async () => {
    const host = await start({ sessions: new JsonSessions(), sessmgr: { settings } })
    const { hangUp } = sendLogin(host, `${path}?gate=answer`)
    await host.gates.at('answer').arrived
    expect(await host.limiter.sessions.count(ALICE)).toBe(1)
    await hangUp()
    await expect.poll(() => host.limiter.sessions.count(ALICE)).toBe(0)
    const second = host.browser()
    expect((await second.login('alice', {}, path)).status).toBe(200)
    host.gates.at('answer').open()
    for (let turns = 0; turns < 50; turns++) await turn()
    expect([await second.me(), await host.limiter.sessions.count(ALICE), host.errors]).toEqual([200, 1, []])
    expect(host.sessions.ids()).toHaveLength(1)
  })

  test('after the whole answer, stays', async () => {
    const host = await start({ sessions: new JsonSessions(), sessmgr: { settings } })
    const browser = host.browser()
    await browser.login('alice', { connection: 'close' }, path)
    for (let turns = 0; turns < 50; turns++) await turn()
    expect([await browser.me(), await host.limiter.sessions.count(ALICE)]).toEqual([200, 1])
  })
})

test('decision 73: a login that the application itself writes for a browser that has hung up keeps no slot', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const sessionUser = (data: Record<string, unknown>) => data.userId as number | undefined
  const limiter = sessmgr({ store: memoryStore({ clock }), sessionUser, settings: { maximum: 1, logic: 'block' } })
  onTestFinished(() => limiter.close())
  const gates = new Gates()
  const app = express()
  app.use(session({ store: new TestStore(), secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.post('/login', (req, res, next) => {
    req.session.regenerate(async (error) => {
      if (error) return next(error)
      await gates.at(String(req.query.gate ?? 'open')).pass()
      Object.assign(req.session, { userId: ALICE })
      res.json({})
    })
  })
  gates.at('open').open()
  const origin = await listen(app)
  const { hangUp } = sendLogin({ origin }, '/login?gate=held')
  await gates.at('held').arrived
  await hangUp()
  gates.at('held').open()
  // The answer is written, and its session ended, after the login was decided.
  await expect.poll(async () => (await new Browser(origin).post('/login?gate=open')).status).toBe(200)
  expect(await limiter.sessions.count(ALICE)).toBe(1)
})
