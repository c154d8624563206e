import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectedFrom } from '../../../../../src/stores/redis/watch/own-address.ts'

describe('the address of this end of a connection', () => {
  const server = createServer((socket) => socket.on('error', () => {}))
  const sockets: Socket[] = []
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  async function connected(): Promise<void> {
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    await once(socket, 'connect')
  }

  it('is that of the socket that is made meanwhile, and of no other', async () => {
    await connected()
    const finding = connectedFrom(connected, {})
    const later = connected()
    const address = await finding
    await later
    expect(address).toBe(`127.0.0.1:${sockets[1]?.localPort}`)
  })

  it('is that of the file of a Unix socket', async () => {
    expect(await connectedFrom(async () => {}, { path: '/tmp/redis.sock' })).toBe('/tmp/redis.sock:0')
  })

  it('is not known where no socket is made, and a failure is passed on', async () => {
    expect(await connectedFrom(async () => {}, undefined)).toBeUndefined()
    await expect(connectedFrom(() => Promise.reject(new Error('refused')), undefined)).rejects.toThrow('refused')
  })
})
