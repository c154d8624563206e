import { RedisStore } from 'connect-redis'
import Redis from 'ioredis'
import { createClientPool, createCluster, createSentinel } from 'redis'
import { createClient as createClient4 } from 'redis4'
import { describe, expect, it } from 'vitest'
import { fromIoredis, type RedisClient, redisStore } from '../../../../src/redis.ts'
import { duplicatesThrough } from '../../../support/late-watch.ts'
import { passingTime } from '../../../support/passing-time.ts'
import { connectRedis } from '../../../support/redis-client.ts'
import { redisRights, watchRights } from '../../../support/redis-rights.ts'
import { startRedis } from '../../../support/redis-server.ts'
import { startProxy } from '../../../support/tcp-proxy.ts'
import { useRedis } from '../../../support/use-redis.ts'
import { startWatched, useWatched, type WatchedProcess } from '../../../support/watched-process.ts'

const db = useRedis()
const { started, open } = useWatched(db)

describe('the watch is used', () => {
  const rights = redisRights()
  const watching = watchRights()

  it('through clients with RESP 2, a prefix, another database, and just the rights that docs/stores.md names', async () => {
    const granted = ['~sessmgr:*', '~sess:*', ...rights, ...watching]
    await db.client.sendCommand(['ACL', 'SETUSER', 'rich', 'reset', 'on', '>rich', ...granted])
    const rich = { username: 'rich', password: 'rich' }
    for (const options of [{}, { RESP: 2 }, { keyPrefix: 'app:' }, { database: 3 }, rich]) {
      const one = await started({ client: await connectRedis(db.server.url, options as never) })
      const session = await one.login('alice', 'a')
      expect((await one.ask(session, 'a'))?.isLive, JSON.stringify(options)).toBe(true)
      await one.store.sessions.end('alice')
      expect((await one.ask(session, 'a'))?.isLive, JSON.stringify(options)).toBe(false)
    }
  })

  it('through a proxy that is vouched for, and not through one that is not', async () => {
    const proxy = await startProxy(db.server.port)
    const doubtful = await startWatched(proxy.url)
    await expect.poll(() => doubtful.watch.whyNot()).toMatch(/different client address.*set tracking: true if/)
    await doubtful.close()
    const vouched = await startWatched(proxy.url, { tracking: true })
    await expect.poll(() => vouched.watch.whyNot()).toBeUndefined()
    await vouched.close()
    await proxy.stop()
  })

  it('again after its connection has answered nothing for a while, and until then nobody waits for it', async () => {
    const proxy = await startProxy(db.server.port)
    const client = await connectRedis(db.server.url)
    duplicatesThrough(client, proxy.port)
    const one = await started({ client, tracking: true, deadlineMs: 2000 })
    const session = await one.login('alice', 'a')
    expect((await one.ask(session, 'a'))?.isLive).toBe(true)
    proxy.set({ kind: 'black hole' })
    const hanging = one.ask(session, 'a').then(
      () => 'answered',
      () => 'failed',
    )
    one.watch.drop()
    // Whoever waited for it is told at once.
    expect(await hanging).toBe('failed')
    expect(one.watch.reading(one.sessionStore)).toBeUndefined()
    proxy.set({ kind: 'none' })
    await expect.poll(() => one.watch.whyNot(one.sessionStore), { timeout: 20_000 }).toBeUndefined()
    await expect.poll(async () => (await one.ask(session, 'a'))?.isLive, { timeout: 20_000 }).toBe(true)
    await one.close()
    open.length = 0
    await proxy.stop()
  })

  it('no more once it is closed, and its connection is gone', async () => {
    const one = await started({ client: db.client })
    const count = async () =>
      String(await db.client.sendCommand(['CLIENT', 'LIST']))
        .trim()
        .split('\n').length
    const before = await count()
    await one.store.close()
    await expect.poll(count).toBe(before - 1)
    expect(await one.watch.whyNot()).toBe('the limiter is closed')
    expect(one.watch.reading(one.sessionStore)).toBeUndefined()
    expect(db.client.listenerCount('ready')).toBe(0)
    open.length = 0
  })
})

describe('the watch is not used, and says why,', () => {
  /** Logs in, and expects that requests do without the watch. */
  async function expectFallback(process: WatchedProcess, reason: string | RegExp): Promise<void> {
    await expect.poll(() => process.watch.whyNot(process.sessionStore)).toMatch(reason)
    expect(process.watch.reading(process.sessionStore)).toBeUndefined()
    expect(await process.ask(await process.login('alice', 'a'), 'a')).toBeUndefined()
    await process.close()
  }

  it('where it is switched off', async () => {
    await expectFallback(await startWatched(db.server.url, { tracking: false }), 'the "tracking" option is false')
  })

  it('where the sessions have another client', async () => {
    const client = await connectRedis(db.server.url)
    const process = await startWatched(db.server.url, { sessionStore: new RedisStore({ client }) })
    await expectFallback(process, /^the session store uses a different client/)
    client.destroy()
  })

  it('where the client is a network, or of another package', async () => {
    const network = /a pool, a sentinel or a cluster/
    const sentinels = { name: 'master', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] }
    for (const [client, reason] of [
      [createClientPool(), network],
      [createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] }), network],
      [createSentinel(sentinels), network],
      [fromIoredis(new Redis({ lazyConnect: true })), /not from the redis package/],
      [createClient4(), /not from the redis package, version 5 or later/],
    ] as const) {
      const { watch } = redisStore({ client: client as unknown as RedisClient })
      expect(await watch?.whyNot()).toMatch(reason)
      expect(watch?.reading({ client })).toBeUndefined()
    }
  })

  it('where the server is part of a cluster', async () => {
    const server = await startRedis(['--cluster-enabled', 'yes', '--save', ''])
    const process = await startWatched(server.url)
    await expect.poll(() => process.watch.whyNot()).toBe('the server is a sentinel or part of a cluster')
    await process.close()
    await server.stop()
  })

  it('where the client has gone to another database than it was made with', async () => {
    const client = await connectRedis(db.server.url)
    await client.select(5)
    await expectFallback(await startWatched(db.server.url, { client }), /different databases/)
  })

  it('where the second connection leads to a replica of the server, which may lag', async () => {
    await db.client.configSet('repl-diskless-sync-delay', '0')
    const replica = await startRedis()
    const there = await connectRedis(replica.url)
    await there.replicaOf('127.0.0.1', db.server.port)
    await expect.poll(() => there.info('replication'), { timeout: 20_000 }).toContain('master_link_status:up')
    const client = await connectRedis(db.server.url)
    const duplicate = client.duplicate.bind(client)
    const elsewhere = (options: object) =>
      duplicate({ ...options, url: undefined, socket: { port: replica.port } } as object)
    Object.assign(client, { duplicate: elsewhere })
    await expectFallback(await startWatched(db.server.url, { client }), 'the two connections lead to different servers')
    there.destroy()
    await replica.stop()
  })

  it('where a change is told after the next reply', async () => {
    const client = await connectRedis(db.server.url)
    const duplicate = client.duplicate.bind(client)
    Object.assign(client, {
      duplicate(...options: Parameters<typeof duplicate>) {
        const own = duplicate(...options)
        const on = own.on.bind(own)
        const late = (event: string, listener: (argument: unknown) => void) =>
          on(event, event === 'invalidate' ? (key: unknown) => setTimeout(listener, 5000, key).unref() : listener)
        return Object.assign(own, { on: late })
      },
    })
    await expectFallback(
      await startWatched(db.server.url, { client }),
      'a change was not reported before the next reply',
    )
  })

  it('where the user lacks one of the rights, and does not try again soon', async () => {
    const opened = async () => /total_connections_received:(\d+)/.exec(await db.client.info('stats'))?.[1]
    for (const missing of watchRights()) {
      const granted = [...redisRights(), ...watchRights().filter((right) => right !== missing)]
      await db.client.sendCommand(['ACL', 'SETUSER', 'poor', 'reset', 'on', '>poor', '~*', ...granted])
      const client = await connectRedis(db.server.url, { username: 'poor', password: 'poor' })
      const process = await startWatched(db.server.url, { client })
      await expect.poll(() => process.watch.whyNot(process.sessionStore), { message: missing }).toMatch(/^NOPERM/)
      const session = await process.login('alice', `without ${missing}`)
      const before = await opened()
      for (let request = 0; request < 5; request++) expect(await process.ask(session, 'a')).toBeUndefined()
      await process.client.ping().catch(() => {})
      expect(await opened(), missing).toBe(before)
      await process.close()
    }
  })

  it.each([
    ['a right was missing', 'NOPERM', ['-get'], '1000000'],
    ['there was no room to keep in mind what to watch', 'the server immediately forgets', ['+get'], '1'],
  ])('until later, where %s for a while', async (_, reason, right, keys) => {
    const allow = (...rules: string[]) =>
      db.client.sendCommand(['ACL', 'SETUSER', 'late', 'reset', 'on', '>late', '~*', '+@all', ...rules])
    await allow(...right)
    await db.client.configSet('tracking-table-max-keys', keys)
    const client = await connectRedis(db.server.url, { username: 'late', password: 'late' })
    const process = await startWatched(db.server.url, { client })
    await expect.poll(() => process.watch.whyNot(process.sessionStore)).toMatch(new RegExp(`^${reason}.*tries again`))
    await allow()
    await db.client.configSet('tracking-table-max-keys', '1000000')
    expect(process.watch.reading(process.sessionStore)).toBeUndefined()
    expect(await process.watch.whyNot(process.sessionStore)).toMatch(reason)
    passingTime()(61_000)
    // The request that finds the pause over opens the connection, and later ones use it.
    expect(process.watch.reading(process.sessionStore)).toBeUndefined()
    await expect.poll(() => process.watch.reading(process.sessionStore)).toBeDefined()
    expect(await process.watch.whyNot(process.sessionStore)).toBeUndefined()
    await process.close()
  })
})
