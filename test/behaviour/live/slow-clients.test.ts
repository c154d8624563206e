import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSocket, signIn, upgradeHeaders } from '../../support/live-clients.ts'
import { type LiveHost, startLiveHost } from '../../support/live-host.ts'

const MOST_UNREAD = 50_000_000
const PART = Buffer.alloc(1_000_000)
/** A frame that joins the main namespace of socket.io, with an empty mask. */
const JOIN = Buffer.from([0x81, 0x82, 0, 0, 0, 0, ...Buffer.from('40')])

/** Opens a WebSocket of which only the beginning is read. */
async function openUnread({ origin }: LiveHost, path: string, cookie: string): Promise<Socket> {
  const { hostname, port } = new URL(origin)
  const client = connect(Number(port), hostname)
  client.on('error', () => {})
  onTestFinished(() => void client.destroy())
  client.write(upgradeHeaders(origin, path, cookie))
  await once(client, 'data')
  return client
}

const KINDS: readonly [name: string, open: (host: LiveHost, cookie: string) => Promise<(part: Buffer) => unknown>][] = [
  [
    'a WebSocket',
    async (host, cookie) => {
      const client = await openUnread(host, '/ws', cookie)
      client.pause()
      const [socket] = host.sockets
      return (part) => socket?.send(part)
    },
  ],
  [
    'a socket of socket.io',
    async (host, cookie) => {
      const joined = once(host.io, 'connection')
      const client = await openUnread(host, '/io/?EIO=4&transport=websocket', cookie)
      client.write(JOIN)
      await joined
      client.pause()
      return (part) => host.io.emit('part', part)
    },
  ],
]

describe.each(KINDS)('%s whose client does not read', (_, open) => {
  it('is cut off when its session ends, and the process goes on', async () => {
    const host = await startLiveHost({ live: { closeAfterMs: 100 } })
    const { cookie } = await signIn(host.origin, 7)
    const connected = once(host.server, 'connection') as Promise<[Socket]>
    const send = await open(host, cookie)
    const [stuck] = await connected
    for (let sent = 0; stuck.writableLength < PART.length && sent < MOST_UNREAD; sent += PART.length) {
      send(PART)
      await new Promise(setImmediate)
    }
    expect(stuck.writableLength).toBeGreaterThanOrEqual(PART.length)
    const closed = new Promise((resolve) => stuck.once('close', resolve))
    await host.limiter.sessions.endAll(7)
    expect(host.live.size).toBe(0)
    send(PART)
    await closed
    const next = await openSocket(host.origin, await signIn(host.origin, 7))
    expect(next.isOpen()).toBe(true)
  })
})
