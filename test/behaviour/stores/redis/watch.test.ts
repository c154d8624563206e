import { RedisStore } from 'connect-redis'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { tokenOf } from '../../../../src/index.ts'
import { redisStore } from '../../../../src/redis.ts'
import { startFailover } from '../../../support/failover-redis.ts'
import { raceTurns } from '../../../support/race-turns.ts'
import { connectRedis, type NodeRedis } from '../../../support/redis-client.ts'
import { rewriteUser, userKey } from '../../../support/redis-rows.ts'
import { startRedis } from '../../../support/redis-server.ts'
import { useRedis } from '../../../support/use-redis.ts'
import { startWatched, useWatched, type WatchedProcess } from '../../../support/watched-process.ts'

const db = useRedis()
const KEY = userKey('alice')
const { started } = useWatched(db)

/** How many commands the server has run since the last reset, but for those of this question. */
async function commandCounts(): Promise<Record<string, number>> {
  const lines = String(await db.client.info('commandstats')).matchAll(/^cmdstat_(\w+)\S*:calls=(\d+)/gm)
  const counts = [...lines].map(([, command = '', calls]) => [command, Number(calls)] as const)
  return Object.fromEntries(counts.filter(([command]) => !/^(config|info)/.test(command)))
}

describe('a session that is followed', () => {
  let one: WatchedProcess
  beforeEach(async () => {
    one = await started()
  })

  /** Logs in, and has the process learn of the session. */
  async function followed(userId: string, sessionId: string) {
    const session = await one.login(userId, sessionId)
    expect(await one.ask(session, sessionId)).toEqual({ data: { sessionId }, isLive: true })
    return session
  }

  it('is learnt of with two commands more, and then read with one command, and no other', async () => {
    await followed('alice', 'a')
    const session = await one.login('bob', 'b')
    await db.client.configResetStat()
    expect((await one.ask(session, 'b'))?.isLive).toBe(true)
    expect(await commandCounts(), 'the epoch is known from the session before').toEqual({ client: 1, get: 2 })
    await db.client.configResetStat()
    for (let request = 0; request < 50; request++) expect((await one.ask(session, 'b'))?.isLive).toBe(true)
    expect(await commandCounts()).toEqual({ get: 50 })
  })

  const changes: readonly [string, (other: WatchedProcess) => Promise<unknown>][] = [
    ['its own end', (other) => other.store.sessions.end('alice', [tokenOf('a')])],
    ['the end of all sessions of its user', (other) => other.store.sessions.end('alice')],
    ['the end of all other sessions of its user', (other) => other.store.sessions.endOthers('alice', tokenOf('b'))],
    ['a site-wide logout', (other) => other.store.epoch.advance()],
    [
      'a login that displaces it',
      async (other) => {
        const read = await other.store.sessions.read('alice')
        const admit = { sessionId: 'c', ttlMs: 60_000, ip: null, userAgent: null, device: null, generation: 0 }
        await other.store.sessions.commit('alice', read, { admit, end: [tokenOf('a')] })
      },
    ],
    ['the loss of its user', () => db.client.del(KEY)],
    ['the loss of everything', () => db.client.flushAll()],
    ['the loss of everything, in a transaction', () => db.client.multi().flushDb().exec()],
    ['another name of its key', () => db.client.rename(KEY, 'elsewhere')],
    ['the expiry of its user', () => db.client.pExpire(KEY, 0)],
    [
      'its eviction',
      async () => {
        await db.client.configSet('maxmemory-policy', 'allkeys-random')
        await db.client.configSet('maxmemory', '1')
        await expect.poll(() => db.client.dbSize(), { timeout: 20_000 }).toBe(0)
        await db.client.configSet('maxmemory', '0')
        await db.client.configSet('maxmemory-policy', 'noeviction')
      },
    ],
    ['the damage of its user', () => db.client.set(KEY, 'damaged')],
    ['a rewrite of its user by hand', () => rewriteUser(db.client, 'alice', (user) => user.s.splice(0))],
  ]

  it('is not live after any end, loss or damage by another process, and others live on', async () => {
    const other = await started()
    for (const [how, change] of changes) {
      await db.client.flushAll()
      const session = await followed('alice', 'a')
      await one.login('alice', 'b')
      await one.ask(session, 'a')
      await change(other)
      for (let request = 0; request < 2; request++) expect((await one.ask(session, 'a'))?.isLive, how).toBe(false)
    }
    await db.client.flushAll()
    const session = await followed('alice', 'a')
    await one.login('alice', 'b')
    await other.store.sessions.end('alice', [tokenOf('b')])
    // The first reading learns what has changed.
    for (let request = 0; request < 2; request++) expect((await one.ask(session, 'a'))?.isLive).toBe(true)
    await other.store.epoch.advance()
    const late = await one.login('alice', 'c')
    expect([(await one.ask(session, 'a'))?.isLive, (await one.ask(late, 'c'))?.isLive]).toEqual([false, true])
  })

  it('is not live by what was known before its user was followed on another connection', async () => {
    const session = await followed('alice', 'a')
    await db.client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'])
    await expect.poll(() => one.ask(session, 'a').catch(() => undefined)).toBeUndefined()
    await rewriteUser(db.client, 'alice', (user) => user.s.splice(0))
    await expect.poll(() => one.watch.whyNot(one.sessionStore)).toBeUndefined()
    expect((await one.ask(session, 'a'))?.isLive).toBe(false)
    const again = await one.login('alice', 'b')
    await expect.poll(async () => (await one.ask(again, 'b'))?.isLive, { timeout: 20_000 }).toBe(true)
  })

  it.each(['when it follows another session', 'and otherwise within a minute'])(
    'is not live by a connection that tells of nothing any more, which is noticed %s',
    async (when) => {
      const client = await connectRedis(db.server.url)
      const duplicate = client.duplicate.bind(client)
      let watched: NodeRedis | undefined
      Object.assign(client, { duplicate: (options: object) => (watched = duplicate(options) as NodeRedis) })
      const other = await started({ client })
      const [alice, bob] = [await other.login('alice', 'a'), await other.login('bob', 'b')]
      expect((await other.ask(alice, 'a'))?.isLive).toBe(true)
      // Nobody has this connection but the watch, which never does so.
      await watched?.sendCommand(['CLIENT', 'TRACKING', 'OFF'])
      await one.store.sessions.end('alice')
      const later = performance.now() + 61_000
      if (when.includes('another')) await other.ask(bob, 'b')
      const clock = vi.spyOn(performance, 'now')
      if (!when.includes('another')) clock.mockReturnValueOnce(later)
      await other.ask(alice, 'a').catch(() => {})
      clock.mockRestore()
      await expect.poll(async () => (await other.ask(alice, 'a'))?.isLive).toBe(false)
    },
  )

  it('is not said to be live by a store that answers without asking Redis', async () => {
    class Cached extends RedisStore {
      override async get(_sid: string, callback?: (error: unknown, data: unknown) => void) {
        callback?.(null, { sessionId: 'a' })
      }
    }
    const cached = await startWatched(db.server.url, {
      client: one.client,
      sessionStore: new Cached({ client: one.client }),
    })
    const session = await one.login('alice', 'a')
    await expect.poll(() => cached.watch.whyNot(cached.sessionStore)).toBeUndefined()
    // What follows the session is on its way, and may arrive: it is the reading that shows nothing.
    for (let request = 0; request < 5; request++) {
      expect((await cached.ask(session, 'a'))?.isLive).toBe(false)
      await one.client.ping()
    }
    await cached.store.close()
  })
})

it.each(['disabled', 'swapdb'])(
  'a server that becomes a replica is followed in what it takes over, repl-diskless-load %s',
  async (load) => {
    const [server, primary] = [await startRedis(), await startRedis(['--save', '', '--repl-diskless-sync-delay', '0'])]
    const one = await startWatched(server.url)
    const other = await startWatched(primary.url, { tracking: false })
    try {
      await one.client.configSet('repl-diskless-load', load)
      const session = await one.login('alice', 'a')
      await other.login('bob', 'b')
      await expect.poll(async () => (await one.ask(session, 'a'))?.isLive).toBe(true)
      expect((await one.ask(session, 'a'))?.isLive).toBe(true)
      await one.client.replicaOf('127.0.0.1', primary.port)
      // All of what it had is gone, and what the primary has is there.
      await expect.poll(() => one.client.get('sess:b'), { timeout: 20_000 }).not.toBeNull()
      expect((await one.ask(session, 'a'))?.isLive).toBe(false)

      const taken = { userId: 'bob', token: tokenOf('b') }
      await expect.poll(async () => (await one.ask(taken, 'b'))?.isLive).toBe(true)
      await other.store.sessions.end('bob')
      // A replica is behind, by no promise how far: what was asked of it in place of the watch would be, too.
      await expect.poll(async () => (await one.ask(taken, 'b'))?.isLive, { timeout: 20_000 }).toBe(false)
    } finally {
      await one.close()
      await other.close()
      await Promise.all([server.stop(), primary.stop()])
    }
  },
)

it('is not live, and others are, when a replica has taken the place of the server that confirmed its end with it', async () => {
  const servers = await startFailover()
  const one = await startWatched(servers.late.url, { tracking: true })
  const other = await connectRedis(servers.early.url)
  try {
    const [alice, bob] = [await one.login('alice', 'a'), await one.login('bob', 'b')]
    await expect.poll(async () => (await one.ask(alice, 'a'))?.isLive).toBe(true)
    await redisStore({ client: other, durability: 'replica', deadlineMs: 60_000 }).sessions.end('alice')
    await servers.failOver('the primary dies')
    await expect.poll(async () => (await one.ask(bob, 'b').catch(() => undefined))?.isLive).toBe(true)
    expect((await one.ask(alice, 'a'))?.isLive).toBe(false)
  } finally {
    other.destroy()
    await one.close()
    await servers.stop()
  }
})

it('readings in the turn in which a session ends know of the end when they have seen what was written after it', async () => {
  const { changed, live } = await raceTurns(db.server.url, 100)
  expect(live).toBe(0)
  expect(changed).toBeGreaterThan(0)
})
