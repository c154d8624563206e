import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { openSocket, signIn, upgradeHeaders } from '../../support/live-clients.ts'
import { startLiveHost } from '../../support/live-host.ts'

const MOST_UNREAD = 50_000_000
const PART = Buffer.alloc(1_000_000)

it('a WebSocket whose client does not read is cut off when its session ends, and the process goes on', async () => {
  const host = await startLiveHost({ live: { closeAfterMs: 100 } })
  const { cookie } = await signIn(host.origin, 7)
  const connected = once(host.server, 'connection') as Promise<[Socket]>
  const { hostname, port } = new URL(host.origin)
  const client = connect(Number(port), hostname)
  client.on('error', () => {})
  onTestFinished(() => void client.destroy())
  client.write(upgradeHeaders(host.origin, '/ws', cookie))
  await once(client, 'data')
  client.pause()
  const [socket] = host.sockets
  const [stuck] = await connected
  for (let sent = 0; stuck.writableLength < PART.length && sent < MOST_UNREAD; sent += PART.length) {
    socket?.send(PART)
    await new Promise(setImmediate)
  }
  expect(stuck.writableLength).toBeGreaterThanOrEqual(PART.length)
  const closed = new Promise((resolve) => stuck.once('close', resolve))
  await host.limiter.sessions.endAll(7)
  expect(host.live.size).toBe(0)
  socket?.send(PART)
  await closed
  const next = await openSocket(host.origin, await signIn(host.origin, 7))
  expect(next.isOpen()).toBe(true)
})
