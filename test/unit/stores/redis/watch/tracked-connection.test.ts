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

it('a server is believed if it is Redis or Valkey itself, at the address that is seen or vouched for', () => {
  const believed: readonly (readonly [fields: Record<string, string | undefined>, addresses?: Addresses])[] = [
    [{ redis_version: '6.2.0', monotonic_clock: undefined }],
    [{}],
    [{ redis_version: '8.0.1', server_mode: undefined }],
    [{ redis_version: '10.0.0' }],
    [{ server_name: 'valkey', valkey_version: '8.1.0', redis_mode: undefined, server_mode: 'standalone' }],
    [{ multiplexing_api: 'kqueue' }],
    [{}, { seen: '[::1]:50000', own: '[::1]:50000' }],
  ]
  for (const [fields, addresses] of believed) {
    expect(whyNot(fields, addresses), JSON.stringify([fields, addresses])).toBeUndefined()
  }
  for (const addresses of [{ seen: '10.0.0.1:50000' }, { seen: '127.0.0.1:50001' }, { own: undefined }]) {
    expect(whyNot({}, { ...addresses, vouched: true })).toBeUndefined()
    expect(whyNot({}, addresses), JSON.stringify(addresses)).toMatch(/proxy.*set tracking: true if/)
  }
})

it('a server is not believed, however it is vouched for, if it is too old, something else, or part of a network', () => {
  const doubted: readonly (readonly [Record<string, string | undefined>, RegExp])[] = [
    [{ redis_version: '6.0.20' }, /version 6\.0\.20, but only 6\.2 and newer/],
    [{ redis_version: '5.9.0' }, /version 5/],
    [{ redis_version: undefined }, /neither Redis nor Valkey/],
    [{ redis_version: 'x' }, /version x/],
    [{ dragonfly_version: 'df-v1.20', redis_version: '7.4.0' }, /neither/],
    [{ executable: '/usr/bin/keydb-server' }, /neither/],
    [{ kvrocks_version: '2.8' }, /neither/],
    [{ rlec_version: '7.4.2' }, /neither/],
    [{ redis_mode: 'cluster' }, /part of a cluster/],
    [{ redis_mode: 'sentinel' }, /sentinel/],
    [{ server_mode: 'cluster' }, /part of a cluster/],
    [{ executable: undefined }, /a proxy or another product/],
    [{ monotonic_clock: undefined }, /a proxy or another product/],
    [{ multiplexing_api: 'go' }, /a proxy or another product/],
  ]
  for (const [fields, reason] of doubted) {
    for (const vouched of [false, true]) expect(whyNot(fields, { vouched }), JSON.stringify(fields)).toMatch(reason)
  }
  expect(whyNotBelievable({ info: '', clientInfo: '', ownAddress: ADDRESS }, true)).toMatch(/neither/)
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

  it('is that of the file of a Unix socket, and unknown where no socket is made; a failure is passed on', async () => {
    expect(await connectedFrom(async () => {}, { path: '/tmp/redis.sock' })).toBe('/tmp/redis.sock:0')
    expect(await connectedFrom(async () => {}, undefined)).toBeUndefined()
    await expect(connectedFrom(() => Promise.reject(new Error('refused')), undefined)).rejects.toThrow('refused')
  })
})
