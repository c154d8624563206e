import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { SocketServer } from '../../../src/live.ts'
import { signIn, upgradeHeaders } from '../../support/live-clients.ts'
import { type LiveHost, startLiveHost } from '../../support/live-host.ts'

const pass = (_request: unknown, _response: unknown, next: () => void) => next()

/** Starts an application without socket.io, which would listen for upgrades too. */
async function startAlone(): Promise<LiveHost> {
  const host = await startLiveHost()
  const [ours, ...others] = host.server.listeners('upgrade')
  for (const other of others) if (other !== ours) host.server.off('upgrade', other as () => void)
  return host
}

/** Opens a WebSocket, and returns the status of the response. */
async function statusOf({ origin }: LiveHost, path: string, cookie = ''): Promise<string> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}${path}`, { origin, headers: { cookie } })
  onTestFinished(() => socket.terminate())
  const opened = once(socket, 'open').then(() => '101')
  return Promise.race([opened, new Promise<string>((resolve) => socket.on('error', (error) => resolve(String(error))))])
}

it('upgrades to paths that nobody handles are answered 404, also with several paths', async () => {
  const host = await startAlone()
  expect(await statusOf(host, '/other')).toContain('404')
  host.live.upgrade(host.server, [pass], new WebSocketServer({ noServer: true }), { path: '/second' })
  expect(await statusOf(host, '/other')).toContain('404')
  expect(await statusOf(host, '/second')).toContain('401')
  const { cookie } = await signIn(host.origin, 7)
  expect(await statusOf(host, '/ws?room=1', cookie)).toBe('101')
})

it('upgrades to other paths are left to other listeners', async () => {
  const host = await startLiveHost()
  host.server.on('upgrade', ({ url }, socket) => {
    if (url === '/other') socket.end('HTTP/1.1 418 Elsewhere\r\nConnection: close\r\n\r\n')
  })
  expect(await statusOf(host, '/other')).toContain('418')
})

it('a path goes before all paths, and neither can be handled twice', async () => {
  const host = await startAlone()
  const upgrade = (options?: { path: string }) =>
    host.live.upgrade(host.server, [pass], new WebSocketServer({ noServer: true }), options)
  upgrade()
  const { cookie } = await signIn(host.origin, 7)
  expect(await statusOf(host, '/ws', cookie)).toBe('101')
  expect(await statusOf(host, '/other', cookie)).toContain('401')
  expect(() => upgrade()).toThrow('live.upgrade() already handles all paths on this server.')
  expect(() => upgrade({ path: '/ws' })).toThrow('live.upgrade() already handles /ws on this server.')
})

it('a WebSocketServer that accepts upgrades itself is refused, because it checks neither origin nor session', async () => {
  const host = await startAlone()
  const attached = new WebSocketServer({ server: host.server, path: '/second' })
  onTestFinished(() => attached.close())
  const upgrade = (sockets: SocketServer) => host.live.upgrade(host.server, [pass], sockets, { path: '/second' })
  expect(() => upgrade(attached)).toThrow(
    'needs new WebSocketServer({ noServer: true }). Yours accepts upgrades itself',
  )
  // Servers of other packages have no options.
  upgrade({ handleUpgrade: attached.handleUpgrade, emit: attached.emit })
})

it.each([
  ['to another path', '/other'],
  ['without a session', '/ws'],
])('a client that stays after its upgrade %s was refused is cut off', async (_, path) => {
  const host = await startAlone()
  const connected = once(host.server, 'connection') as Promise<[Socket]>
  const client = connect({ port: Number(new URL(host.origin).port), host: '127.0.0.1', allowHalfOpen: true })
  client.on('error', () => {})
  onTestFinished(() => void client.destroy())
  client.write(upgradeHeaders(host.origin, path, ''))
  const [socket] = await connected
  await once(socket, 'close')
  expect(client.writable).toBe(true)
})

it('a client that resets its connection while its upgrade is refused ends no process', async () => {
  const host = await startAlone()
  const client = connect(Number(new URL(host.origin).port), '127.0.0.1')
  const reset = async (_request: unknown, _response: unknown, next: () => void) => {
    client.resetAndDestroy()
    await once(client, 'close')
    next()
  }
  host.live.upgrade(host.server, [reset], new WebSocketServer({ noServer: true }), { path: '/reset' })
  const connected = once(host.server, 'connection') as Promise<[Socket]>
  client.write(upgradeHeaders(host.origin, '/reset', ''))
  const [socket] = await connected
  // `once` of node:events would listen for errors.
  await new Promise((resolve) => socket.on('close', resolve))
  expect(await statusOf(host, '/ws')).toContain('401')
})
