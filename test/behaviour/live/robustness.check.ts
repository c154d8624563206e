import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import { openAll, openSocket, signIn, upgradeHeaders } from '../../support/live-clients.ts'
import { type LiveHost, startLiveHost } from '../../support/live-host.ts'

/** A store that can be taken away. */
function fragileStore() {
  const store = memoryStore()
  const state = { isDown: false, failed: 0, answered: 0 }
  const useOf = store.sessions.useOf.bind(store.sessions)
  store.sessions.useOf = async (...call) => {
    state[state.isDown ? 'failed' : 'answered'] += 1
    if (state.isDown) throw new Error('The store is down.')
    return useOf(...call)
  }
  return { store, state }
}

describe('while the store cannot be asked', () => {
  it('connections are kept for the grace, and then closed so that their clients come again later', async () => {
    const { store, state } = fragileStore()
    const graceMs = 400
    const host = await startLiveHost({ sessmgr: { store }, live: { sweepEvery: 100, graceMs } })
    const opened = await openAll(host.origin, await signIn(host.origin, 7))
    state.isDown = true
    const downAt = performance.now()
    expect(await opened.socket.closed).toBe('1013 try_again')
    expect(performance.now() - downAt).toBeGreaterThanOrEqual(graceMs)
    expect(await opened.stream.closed).toBe('data: hello\n\n')
    expect(state.failed).toBeGreaterThan(1)
    expect(host.live.size).toBe(0)
  })

  it('nothing is closed if the store is back within the grace', async () => {
    const { store, state } = fragileStore()
    const host = await startLiveHost({ sessmgr: { store }, live: { sweepEvery: 100 } })
    const client = await signIn(host.origin, 7)
    const opened = await openAll(host.origin, client)
    state.isDown = true
    await expect.poll(() => state.failed).toBeGreaterThan(2)
    state.isDown = false
    const before = state.answered
    await expect.poll(() => state.answered).toBeGreaterThan(before + 2)
    expect(opened.all.map(({ isOpen }) => isOpen())).toEqual([true, true])
    await host.limiter.sessions.end(7, client.token)
    expect(await opened.socket.closed).toMatch(/^4401/)
  })
})

describe('clients that misbehave', () => {
  it('by resetting their connections end no process, and leave nothing behind', async () => {
    const host = await startLiveHost()
    const { cookie } = await signIn(host.origin, 7)
    const { hostname, port } = new URL(host.origin)
    const requests = [
      upgradeHeaders(host.origin, '/ws', cookie),
      `GET /events HTTP/1.1\r\nHost: ${hostname}\r\nCookie: ${cookie}\r\n\r\n`,
    ]
    for (let tries = 0; tries < 60; tries++) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.write(String(requests[tries % requests.length]))
      const how = Math.floor(tries / requests.length) % 3
      // At once, after the handshake, or after a frame that is no frame.
      if (how > 0) await once(socket, 'data')
      if (how === 2) socket.write(Buffer.alloc(64, 0xff))
      socket.resetAndDestroy()
      await once(socket, 'close')
    }
    await expect.poll(() => host.live.size).toBe(0)
    const opened = await openSocket(host.origin, { cookie })
    expect(opened.isOpen()).toBe(true)
    expect(host.live.size).toBe(1)
  })

  it('by sending many requests at once leave nothing behind', async () => {
    const host = await startLiveHost()
    const { cookie } = await signIn(host.origin, 7)
    const { hostname, port } = new URL(host.origin)
    const client = connect(Number(port), hostname)
    let requests = 0
    const allReceived = new Promise<void>((resolve) => host.server.on('request', () => ++requests === 20 && resolve()))
    const request = `GET /events HTTP/1.1\r\nHost: ${hostname}\r\nCookie: ${cookie}\r\n\r\n`
    client.write(request.repeat(20))
    await allReceived
    await expect.poll(() => host.live.size).toBe(1)
    client.destroy()
    await expect.poll(() => host.live.size).toBe(0)
  })

  it('from other sites are refused, even with the cookie', async () => {
    const host = await startLiveHost()
    const { cookie } = await signIn(host.origin, 7)
    const { WebSocket } = await import('ws')
    const url = `${host.origin.replace('http', 'ws')}/ws`
    for (const origin of ['https://evil.example', 'null', undefined]) {
      const socket = new WebSocket(url, { headers: { cookie }, ...(origin !== undefined && { origin }) })
      const [error] = await once(socket, 'error')
      expect(String(error)).toContain('403')
    }
    expect(host.live.size).toBe(0)
  })
})

const STREAM_ENDS: readonly [name: string, end: (host: LiveHost, state: { isDown: boolean }) => unknown][] = [
  ['its session ends', ({ limiter }) => limiter.sessions.endAll(7)],
  ['all users are signed out', ({ limiter }) => limiter.sessions.logoutAllUsers()],
  ['the store has been down for graceMs', (_, state) => Object.assign(state, { isDown: true })],
]

it.each(STREAM_ENDS)('an event stream whose client does not read ends no process when %s', async (_, end) => {
  const { store, state } = fragileStore()
  const host = await startLiveHost({ sessmgr: { store }, live: { sweepEvery: 100, graceMs: 0, closeAfterMs: 100 } })
  const { cookie } = await signIn(host.origin, 7)
  let response: ServerResponse | undefined
  host.server.prependListener('request', (_request, given) => {
    response = given
  })
  const { hostname, port } = new URL(host.origin)
  const client = connect(Number(port), hostname)
  client.on('error', () => {})
  onTestFinished(() => void client.destroy())
  client.write(`GET /events HTTP/1.1\r\nHost: ${hostname}\r\nCookie: ${cookie}\r\n\r\n`)
  await once(client, 'data')
  client.pause()
  const stuck = response as ServerResponse
  while (stuck.writableLength < 1_000_000) {
    stuck.write(Buffer.alloc(1_000_000))
    await new Promise(setImmediate)
  }
  // `once` of node:events would listen for errors.
  const closed = new Promise<void>((resolve) => stuck.once('close', resolve))
  const written = new Promise((resolve) => stuck.once('prefinish', () => stuck.write('too late', resolve)))
  await end(host, state)
  expect(await written).toBeUndefined()
  await closed
})

it('an application may still answer a request that was answered at the end of its session', async () => {
  const host = await startLiveHost()
  const { cookie } = await signIn(host.origin, 7)
  let response: ServerResponse | undefined
  host.server.prependListener('request', (request, given) => {
    if (request.url === '/waiting') response = given
  })
  const waiting = fetch(`${host.origin}/waiting`, { headers: { cookie } })
  await expect.poll(() => host.live.size).toBe(1)
  await host.limiter.sessions.endAll(7)
  response?.setHeader('Content-Type', 'text/plain')
  response?.writeHead(200).end('too late')
  const answer = await waiting
  expect([answer.status, await answer.text()]).toEqual([401, ''])
})

describe('the use of a session', () => {
  it('is recorded when its client sends a message, but not when it sends a ping', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const host = await startLiveHost({ sessmgr: { store, touchEvery: 0 } })
    const client = await signIn(host.origin, 7)
    const socket = await openSocket(host.origin, client)
    const lastSeen = async () => (await host.limiter.sessions.list(7))[0]?.lastSeenAt
    const before = await lastSeen()
    clock.advance(60_000)
    socket.ping()
    await once(socket, 'pong')
    expect(await lastSeen()).toBe(before)
    socket.send('a message')
    await expect.poll(lastSeen).toBe(Number(before) + 60_000)
  })
})

it('live.socket() and live.stream() refuse what is no connection', async () => {
  const { live } = await startLiveHost()
  const invalid = (message: string) => expect.objectContaining({ code: 'invalid_option', message })
  for (const given of [{}, undefined]) {
    expect(() => live.socket({} as never, given as never)).toThrow(
      invalid('live.socket(request, socket) needs a WebSocket from ws.'),
    )
    expect(() => live.stream({} as never, given as never)).toThrow(
      invalid('The response is missing: write live.stream(request, response).'),
    )
  }
})

describe('live.track()', () => {
  it('closes anything else, survives a function that fails, and forgets what was stopped', async () => {
    const host = await startLiveHost()
    const client = await signIn(host.origin, 7)
    const ends: unknown[] = []
    const stop = host.live.track(client, () => ends.push('stopped'))
    host.live.track(client, (end) => {
      ends.push(end)
      throw new Error('This application failed.')
    })
    expect(host.live.size).toBe(2)
    stop()
    stop()
    expect(host.live.size).toBe(1)
    expect(await host.limiter.sessions.endAll(7)).toBe(1)
    expect(ends).toEqual([{ code: 'session_ended', kind: 'app' }])
    await expect.poll(() => String(host.logs)).toContain('An open connection could not be closed.')
    expect(() => host.live.track({ userId: 7, token: 'raw id' }, () => {})).toThrow('needs a session')
  })

  it('holds nothing after 10,000 connections have come and gone', async () => {
    const host = await startLiveHost()
    const client = await signIn(host.origin, 7)
    for (let count = 0; count < 10_000; count++) host.live.track({ ...client, userId: count % 100 }, () => {})()
    expect(host.live.size).toBe(0)
  })

  it('closes what is tracked after live.close()', async () => {
    const host = await startLiveHost()
    const client = await signIn(host.origin, 7)
    await host.live.close()
    const end = await new Promise((resolve) => void host.live.track(client, resolve))
    expect(end).toEqual({ code: 'try_again' })
  })
})
