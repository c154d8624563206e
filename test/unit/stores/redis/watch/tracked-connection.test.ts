import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectedFrom, whyNotBelievable } from '../../../../../src/stores/redis/watch/tracked-connection.ts'

const FIELDS = {
  redis_version: '7.0.15',
  redis_mode: 'standalone',
  os: 'Linux 6.1 x86_64',
  multiplexing_api: 'epoll',
  monotonic_clock: 'POSIX clock_gettime',
  executable: '/usr/bin/redis-server',
}
const ADDRESS = '127.0.0.1:50000'

interface Addresses {
  readonly seen?: string
  readonly own?: string | undefined
  readonly vouched?: boolean
}

function whyNot(fields: Record<string, string | undefined> = {}, addresses: Addresses = {}) {
  const { seen, own, vouched = false } = { seen: ADDRESS, own: ADDRESS, ...addresses }
  const lines = Object.entries({ ...FIELDS, ...fields }).filter(([, value]) => value !== undefined)
  const info = ['# Server', ...lines.map(([name, value]) => `${name}:${value}`), ''].join('\r\n')
  const clientInfo = `id=3 addr=${seen} laddr=127.0.0.1:6379 fd=8 name= user=default\n`
  return whyNotBelievable({ info, clientInfo, ownAddress: own }, vouched)
}

describe('a server is believed', () => {
  it.each<[string, Record<string, string | undefined>]>([
    ['of Redis 6.2', { redis_version: '6.2.0', monotonic_clock: undefined }],
    ['of Redis 7', {}],
    ['of Redis 8', { redis_version: '8.0.1', server_mode: undefined }],
    ['of Redis 10', { redis_version: '10.0.0' }],
    [
      'of Valkey',
      {
        redis_version: '7.2.4',
        server_name: 'valkey',
        valkey_version: '8.1.0',
        redis_mode: undefined,
        server_mode: 'standalone',
      },
    ],
    ['on a Mac', { multiplexing_api: 'kqueue' }],
  ])('%s', (_, fields) => expect(whyNot(fields)).toBeUndefined())

  it('that sees the connection come from an address of IPv6', () => {
    expect(whyNot({}, { seen: '[::1]:50000', own: '[::1]:50000' })).toBeUndefined()
  })

  it.each<[string, object]>([
    ['from another address', { seen: '10.0.0.1:50000' }],
    ['from another port', { seen: '127.0.0.1:50001' }],
    ['from an address that is not known here', { own: undefined }],
  ])('that sees it come %s, if that is vouched for, and not otherwise', (_, addresses) => {
    expect(whyNot({}, { ...addresses, vouched: true })).toBeUndefined()
    expect(whyNot({}, addresses)).toMatch(/proxy.*set tracking: true if/)
  })
})

describe('a server is not believed, however it is vouched for,', () => {
  it.each<[string, Record<string, string | undefined>, RegExp]>([
    ['of Redis 6.0', { redis_version: '6.0.20' }, /version 6\.0\.20, but only 6\.2 and newer/],
    ['of Redis 5', { redis_version: '5.9.0' }, /version 5/],
    ['without a version', { redis_version: undefined }, /neither Redis nor Valkey/],
    ['of a broken version', { redis_version: 'x' }, /version x/],
    ['of Dragonfly', { dragonfly_version: 'df-v1.20', redis_version: '7.4.0' }, /neither/],
    ['of KeyDB', { executable: '/usr/bin/keydb-server' }, /neither/],
    ['of Kvrocks', { kvrocks_version: '2.8' }, /neither/],
    ['of Redis Enterprise', { rlec_version: '7.4.2' }, /neither/],
    ['in a cluster', { redis_mode: 'cluster' }, /part of a cluster/],
    ['that is a sentinel', { redis_mode: 'sentinel' }, /sentinel/],
    ['that says another mode of itself', { server_mode: 'cluster' }, /part of a cluster/],
    ['without a program', { executable: undefined }, /a proxy or another product/],
    ['without a clock', { monotonic_clock: undefined }, /a proxy or another product/],
    ['that waits for its sockets in its own way', { multiplexing_api: 'go' }, /a proxy or another product/],
  ])('%s', (_, fields, reason) => {
    expect(whyNot(fields)).toMatch(reason)
    expect(whyNot(fields, { vouched: true })).toMatch(reason)
  })

  it('that says nothing', () => {
    expect(whyNotBelievable({ info: '', clientInfo: '', ownAddress: ADDRESS }, true)).toMatch(/neither/)
  })
})

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
