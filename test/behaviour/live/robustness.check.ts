import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { liveConnections } from '../../../src/live.ts'
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

/** Connects to a host, without a request. */
function clientOf({ origin }: LiveHost): Socket {
  const client = connect(Number(new URL(origin).port), '127.0.0.1')
  client.on('error', () => {})
  onTestFinished(() => void client.destroy())
  return client
}

const eventsRequest = (cookie: string) => `GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: ${cookie}\r\n\r\n`

it('connections are kept for the grace while the store is away, and then closed so that clients come again', async () => {
  const { store, state } = fragileStore()
  const graceMs = 600
  const host = await startLiveHost({ sessmgr: { store }, live: { sweepEvery: 100, graceMs } })
  const opened = await openAll(host.origin, await signIn(host.origin, 7))
  state.isDown = true
  await expect.poll(() => state.failed).toBeGreaterThan(1)
  state.isDown = false
  const before = state.answered
  await expect.poll(() => state.answered).toBeGreaterThan(before + 5)
  expect(opened.all.map(({ isOpen }) => isOpen())).toEqual([true, true])
  state.isDown = true
  const downAt = performance.now()
  expect(await opened.socket.closed).toBe('1013 try_again')
  expect(performance.now() - downAt).toBeGreaterThanOrEqual(graceMs)
  expect([await opened.stream.closed, host.live.size]).toEqual(['data: hello\n\n', 0])
})

describe('clients that misbehave', () => {
  it('by resetting their connections end no process, and leave nothing behind', async () => {
    const host = await startLiveHost()
    const { cookie } = await signIn(host.origin, 7)
    const requests = [upgradeHeaders(host.origin, '/ws', cookie), eventsRequest(cookie)]
    for (let tries = 0; tries < 60; tries++) {
      const socket = clientOf(host)
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
    const client = clientOf(host)
    let requests = 0
    const allReceived = new Promise<void>((resolve) => host.server.on('request', () => ++requests === 20 && resolve()))
    client.write(eventsRequest(cookie).repeat(20))
    await allReceived
    await expect.poll(() => host.live.size).toBe(1)
    client.destroy()
    await expect.poll(() => host.live.size).toBe(0)
  })

  it('by not reading a WebSocket are cut off when their session ends, and the process goes on', async () => {
    const part = Buffer.alloc(1_000_000)
    const host = await startLiveHost({ live: { closeAfterMs: 100 } })
    const { cookie } = await signIn(host.origin, 7)
    const connected = once(host.server, 'connection') as Promise<[Socket]>
    const client = clientOf(host)
    client.write(upgradeHeaders(host.origin, '/ws', cookie))
    await once(client, 'data')
    client.pause()
    const [socket] = host.sockets
    const [stuck] = await connected
    for (let sent = 0; stuck.writableLength < part.length && sent < 50; sent++) {
      socket?.send(part)
      await new Promise(setImmediate)
    }
    expect(stuck.writableLength).toBeGreaterThanOrEqual(part.length)
    const closed = new Promise((resolve) => stuck.once('close', resolve))
    await host.limiter.sessions.endAll(7)
    expect(host.live.size).toBe(0)
    socket?.send(part)
    await closed
    expect((await openSocket(host.origin, await signIn(host.origin, 7))).isOpen()).toBe(true)
  })
})

it.each<[string, (host: LiveHost, state: { isDown: boolean }) => unknown]>([
  ['its session ends', ({ limiter }) => limiter.sessions.endAll(7)],
  ['the store has been away for graceMs', (_, state) => Object.assign(state, { isDown: true })],
])('an event stream whose client does not read ends no process when %s', async (_, end) => {
  const { store, state } = fragileStore()
  const host = await startLiveHost({ sessmgr: { store }, live: { sweepEvery: 100, graceMs: 0, closeAfterMs: 100 } })
  const { cookie } = await signIn(host.origin, 7)
  const answered = once(host.server, 'request') as Promise<[unknown, ServerResponse]>
  const client = clientOf(host)
  client.write(eventsRequest(cookie))
  await once(client, 'data')
  client.pause()
  const [, stuck] = await answered
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
  const asked = once(host.server, 'request') as Promise<[unknown, ServerResponse]>
  const waiting = fetch(`${host.origin}/waiting`, { headers: { cookie } })
  await expect.poll(() => host.live.size).toBe(1)
  await host.limiter.sessions.endAll(7)
  const [, response] = await asked
  response.setHeader('Content-Type', 'text/plain')
  response.writeHead(200).end('too late')
  const answer = await waiting
  expect([answer.status, await answer.text()]).toEqual([401, ''])
})

it('the use of a session is recorded when its client sends a message, but not when it sends a ping', async () => {
  const clock = fakeClock()
  const host = await startLiveHost({ sessmgr: { store: memoryStore({ clock }), touchEvery: 0 } })
  const socket = await openSocket(host.origin, await signIn(host.origin, 7))
  const lastSeen = async () => (await host.limiter.sessions.list(7))[0]?.lastSeenAt
  const before = await lastSeen()
  clock.advance(60_000)
  socket.ping()
  await once(socket, 'pong')
  expect(await lastSeen()).toBe(before)
  socket.send('a message')
  await expect.poll(lastSeen).toBe(Number(before) + 60_000)
})

it('live.socket() and live.stream() refuse what is no connection', async () => {
  const { live, limiter } = await startLiveHost()
  expect(() => liveConnections(limiter, { sweepEvery: 99 })).toThrow('"sweepEvery" must be a whole number from 100')
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

  it('keeps users apart who had the same session id, and holds nothing after 10,000 have come and gone', async () => {
    const host = await startLiveHost()
    const client = await signIn(host.origin, 7)
    for (let count = 0; count < 10_000; count++) host.live.track({ ...client, userId: count % 100 }, () => {})()
    expect(host.live.size).toBe(0)
    const ends: (number | string)[] = []
    for (const userId of [7, '7', 8]) host.live.track({ ...client, userId }, () => ends.push(userId))
    expect(host.live.size).toBe(3)
    await expect.poll(() => ends).toEqual([8])
    await host.limiter.sessions.end(7, client.token)
    expect([ends, host.live.size]).toEqual([[8, 7, '7'], 0])
  })

  it('closes at once what is tracked after live.close(), which tells clients to come again', async () => {
    const host = await startLiveHost()
    const client = await signIn(host.origin, 7)
    const opened = await openSocket(host.origin, client)
    await host.live.close()
    expect(await opened.closed).toBe('1013 try_again')
    const end = await new Promise((resolve) => void host.live.track(client, resolve))
    expect(end).toEqual({ code: 'try_again' })
  })
})
