import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { SocketServer, UpgradeOptions } from '../../../src/live.ts'
import { signIn, upgradeHeaders } from '../../support/live-clients.ts'
import { type LiveHost, startLiveHost } from '../../support/live-host.ts'

const pass = (_request: unknown, _response: unknown, next: () => void) => next()

/** Opens a WebSocket, and returns the status of the response. */
async function statusOf({ origin }: LiveHost, path: string, cookie = ''): Promise<string> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}${path}`, { origin, headers: { cookie } })
  onTestFinished(() => socket.terminate())
  const opened = once(socket, 'open').then(() => '101')
  return Promise.race([opened, new Promise<string>((resolve) => socket.on('error', (error) => resolve(String(error))))])
}

it('an upgrade goes to its path, then to all paths, then to other listeners, and else is answered 404', async () => {
  const host = await startLiveHost()
  const upgrade = (options?: { path: string }) =>
    host.live.upgrade(host.server, [pass], new WebSocketServer({ noServer: true }), options)
  const { cookie } = await signIn(host.origin, 7)
  expect(await statusOf(host, '/other', cookie)).toContain('404')
  upgrade({ path: '/second' })
  expect(await statusOf(host, '/other', cookie)).toContain('404')
  expect(await statusOf(host, '/second', cookie)).toContain('401')
  expect(await statusOf(host, '/ws?room=1', cookie)).toBe('101')
  host.server.on('upgrade', ({ url }, socket) => {
    if (url === '/elsewhere') socket.end('HTTP/1.1 418 Elsewhere\r\nConnection: close\r\n\r\n')
  })
  expect(await statusOf(host, '/elsewhere', cookie)).toContain('418')
  upgrade()
  expect(await statusOf(host, '/ws', cookie)).toBe('101')
  expect(await statusOf(host, '/other', cookie)).toContain('401')
  expect(() => upgrade()).toThrow('live.upgrade() already handles all paths on this server.')
  expect(() => upgrade({ path: '/ws' })).toThrow('live.upgrade() already handles /ws on this server.')
})

it('a WebSocketServer that accepts upgrades itself is refused, because it checks neither origin nor session', async () => {
  const host = await startLiveHost()
  const attached = new WebSocketServer({ server: host.server, path: '/second' })
  onTestFinished(() => attached.close())
  const upgrade = (sockets: SocketServer) => host.live.upgrade(host.server, [pass], sockets, { path: '/second' })
  expect(() => upgrade(attached)).toThrow(
    'needs new WebSocketServer({ noServer: true }). Yours accepts upgrades itself',
  )
  // Servers of other packages have no options.
  upgrade({ handleUpgrade: attached.handleUpgrade, emit: attached.emit })
})

describe('the origin of an upgrade', () => {
  /** Returns what asks for an upgrade as a page of `from` does, without a session, and returns the response's status. */
  async function asking(options?: UpgradeOptions) {
    const server = createServer()
    onTestFinished(() => void server.close())
    const { live } = await startLiveHost()
    live.upgrade(server, [pass], new WebSocketServer({ noServer: true }), options)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return async (from: string | undefined, site: string) => {
      const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
      const origin = from === undefined ? [] : [`Origin: ${from}`]
      const headers = ['GET / HTTP/1.1', `Host: ${site}`, ...origin, 'Connection: Upgrade', 'Upgrade: websocket']
      client.write(`${headers.join('\r\n')}\r\n\r\n`)
      const [answer] = await once(client, 'data')
      client.destroy()
      return String(answer).slice('HTTP/1.1 '.length).slice(0, 3)
    }
  }

  it('must be the host of the request, with any scheme and its port', async () => {
    const ask = await asking()
    for (const [origin, site] of [
      ['http://example.test', 'EXAMPLE.test:80'],
      ['https://example.test', 'example.test'],
      ['https://example.test', 'example.test:443'],
      ['http://127.0.0.1:8080', '127.0.0.1:8080'],
    ] as const) {
      expect(await ask(origin, site), `${origin} to ${site}`).toBe('401')
    }
    for (const [origin, site] of [
      ['https://evil.example', 'example.test'],
      ['http://example.test:81', 'example.test'],
      ['https://example.test', 'example.test:80'],
      ['http://example.test.evil.example', 'example.test'],
      ['http://example.test@evil.example', 'example.test'],
      ['http://me:secret@example.test', 'example.test'],
      ['http://example.test/path', 'example.test'],
      ['http://', ''],
      ['null', 'null'],
      ['', ''],
      ['ftp://example.test', 'example.test'],
      ['http://example.test', 'me@example.test'],
      [undefined, 'example.test'],
    ] as const) {
      expect(await ask(origin, site), `${origin} to ${site}`).toBe('403')
    }
  })

  it('must be one of the sites of the option, if it is set', async () => {
    const ask = await asking({ origins: ['https://Example.test:443'] })
    const asked = ['https://example.test', 'http://example.test', 'http://internal']
    const answers = await Promise.all(asked.map((origin) => ask(origin, 'internal')))
    expect(answers).toEqual(['401', '403', '403'])
    for (const origins of ['https://example.test', ['https://example.test/'], ['example.test'], [7]]) {
      await expect(asking({ origins } as never), String(origins)).rejects.toThrow('"origins" must be an array of URLs')
    }
  })
})

it('a client that stays after its upgrade was refused, by path or session, is cut off', async () => {
  const host = await startLiveHost()
  for (const path of ['/other', '/ws']) {
    const connected = once(host.server, 'connection') as Promise<[Socket]>
    const client = connect({ port: Number(new URL(host.origin).port), host: '127.0.0.1', allowHalfOpen: true })
    client.on('error', () => {})
    onTestFinished(() => void client.destroy())
    client.write(upgradeHeaders(host.origin, path, ''))
    const [socket] = await connected
    await once(socket, 'close')
    expect(client.writable, path).toBe(true)
  }
})

it('a client that resets its connection while its upgrade is refused ends no process', async () => {
  const host = await startLiveHost()
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
