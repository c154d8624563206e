import Redis from 'ioredis'
import type { Pool } from 'pg'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type LiveSessions, Sweep, TrackedSession } from '../../../src/extensions/live/live-sessions.ts'
import { memoryStore, type SessmgrStore, tokenOf } from '../../../src/index.ts'
import { fromIoredis, type RedisStoreOptions, redisStore } from '../../../src/redis.ts'
import { PostgresSignals } from '../../../src/stores/postgres-signals.ts'
import { aWarning } from '../../support/a-warning.ts'
import { openAll, openSocket, signIn } from '../../support/live-clients.ts'
import { type LiveSetup, startLiveHost } from '../../support/live-host.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts'
import { TestStore } from '../../support/test-store.ts'
import { useRedis } from '../../support/use-redis.ts'

/** No sweep comes in time, so only messages can close a connection in another process. */
const NO_SWEEP = { sweepEvery: 3_600_000 }

/** Two applications, each with its own connection to the same data. */
async function startTwo(store: () => Promise<SessmgrStore>, live: LiveSetup['live'] = NO_SWEEP) {
  const sessions = new TestStore()
  const start = async () =>
    startLiveHost({ sessmgr: { store: await store(), settings: { maximum: 9 } }, sessionStore: sessions.twin(), live })
  return { here: await start(), there: await start() }
}

describe('over Redis', () => {
  const db = useRedis()

  async function nodeRedis(options: Partial<RedisStoreOptions> = {}, user = '') {
    const url = db.server.url.replace('//', `//${user}`)
    const client = createClient({ url })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.destroy())
    return redisStore({ client, prefix: `${expect.getState().currentTestName}:`, ...options })
  }

  const stores: Record<string, () => Promise<SessmgrStore>> = {
    'a client of the redis package': nodeRedis,
    'a subscriber of the application': async () => {
      const subscriber = createClient({ url: db.server.url })
      await subscriber.connect()
      onTestFinished(() => subscriber.destroy())
      return nodeRedis({ subscriber })
    },
    ioredis: async () => {
      const redis = new Redis(db.server.port, '127.0.0.1')
      onTestFinished(() => redis.disconnect())
      return redisStore({ client: fromIoredis(redis), prefix: 'ioredis:' })
    },
  }

  it('an end closes the connections in another process, with each client', async () => {
    for (const [name, store] of Object.entries(stores)) {
      const { here, there } = await startTwo(store)
      const client = await signIn(here.origin, 7)
      const opened = await openAll(there.origin, client)
      // The first end may come before the subscription, which the sweep after it makes up for.
      await here.limiter.sessions.end(7, client.token, { by: 'admin' })
      expect(await opened.socket.closed, name).toMatch(/^4401 .*"session_ended"/)
      await opened.stream.closed
      expect([...here.logs, ...there.logs]).toEqual([])
    }
  })

  it('a subscriber that has reconnected sweeps at once', async () => {
    const { here, there } = await startTwo(nodeRedis)
    const client = await signIn(here.origin, 7)
    const opened = await openSocket(there.origin, client)
    // Ends the session without any message, as if it had been lost.
    const silent = await nodeRedis()
    await silent.sessions.end(7, [client.token])
    await db.client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub'])
    expect(await opened.closed).toBe('4401 {"code":"session_ended"}')
  })

  it('without the rights, one warning is logged, and the sweep closes connections', async () => {
    const rights = ['on', 'nopass', '~*', '+@all', 'resetchannels']
    await db.client.sendCommand(['ACL', 'SETUSER', 'silent', ...rights])
    const { here, there } = await startTwo(() => nodeRedis({}, 'silent:any@'), { sweepEvery: 200 })
    const client = await signIn(here.origin, 7)
    const opened = await openSocket(there.origin, client)
    await here.limiter.sessions.end(7, client.token)
    expect(await opened.closed).toBe('4401 {"code":"session_ended"}')
    expect(there.logs.map(([message]) => String(message))).toEqual([
      aWarning('open-connections', /^Messages from other processes about ended sessions cannot be received/),
    ])
  })
})

describe('over PostgreSQL', () => {
  let server: PostgresServer
  let pool: Pool
  beforeAll(async () => {
    server = await startPostgres()
    pool = server.pool()
  })
  afterAll(() => server?.stop())

  it('messages arrive again after the connection was lost, and the subscriber learns that it missed some', async () => {
    const signals = new PostgresSignals(pool, 'made_up')
    const heard: string[] = []
    const missed = new Promise<void>((resolve) => {
      void signals.subscribe({ heard: (message) => void heard.push(message), missed: resolve }).then(async () => {
        const other = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        await pool.query(other)
      })
    })
    await missed
    await signals.publish('again')
    await expect.poll(() => heard).toEqual(['again'])
    await signals.close()
    expect(pool.totalCount - pool.idleCount).toBe(0)
  })
})

it('messages that are not true close nothing', async () => {
  const store = memoryStore()
  const host = await startLiveHost({ sessmgr: { store }, live: NO_SWEEP })
  const client = await signIn(host.origin, 7)
  const opened = await openSocket(host.origin, client)
  const checks = vi.spyOn(store.sessions, 'useOf')
  const messages = {
    forged: `1 admin ${client.token}`,
    'about everyone': '1 logout_all',
    'of another version': `2 admin ${client.token}`,
    malformed: '1 admin __proto__',
    'of an unknown kind': `1 constructor ${client.token}`,
    endless: `1 admin ${'a'.repeat(100_000)}`,
    empty: '',
  }
  for (const [what, message] of Object.entries(messages)) {
    checks.mockClear()
    for (let times = 0; times < 3; times++) await store.signals?.publish(message)
    // Whatever they caused has happened before a message of the client is heard.
    opened.send(what)
    await expect.poll(() => host.heard).toContain(what)
    expect(opened.isOpen(), what).toBe(true)
    expect(checks.mock.calls.length, what).toBeLessThanOrEqual(3)
  }
  await host.limiter.sessions.end(7, client.token)
  expect(await opened.closed).toMatch(/^4401/)
})

it('messages about a real end, repeated, close its connections once', async () => {
  const store = memoryStore()
  const host = await startLiveHost({ sessmgr: { store }, live: NO_SWEEP })
  const client = await signIn(host.origin, 7)
  const ends: unknown[] = []
  host.live.track(client, (end) => ends.push(end))
  await store.sessions.end(7, [client.token])
  for (let times = 0; times < 5; times++) await store.signals?.publish(`1 admin ${client.token}`)
  await expect.poll(() => ends).toHaveLength(1)
  // All checks that the messages have caused are answered before a later one.
  expect((await openSocket(host.origin, await signIn(host.origin, 8))).isOpen()).toBe(true)
  expect([ends, host.live.size]).toEqual([[{ code: 'session_ended', kind: 'admin' }], 1])
})

it('a process that misses messages again and again sweeps once a second', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const session = new TrackedSession(7, tokenOf('a'))
  session.connections.add({ close() {} })
  const check = vi.fn(async () => {})
  const sweep = new Sweep({ all: () => [session], check } as unknown as LiveSessions, 3_600_000)
  onTestFinished(() => sweep.stop())
  for (let times = 0; times < 1000; times++) {
    sweep.missed()
    vi.advanceTimersByTime(10)
  }
  expect(Math.abs(check.mock.calls.length - 10)).toBeLessThanOrEqual(1)
})
