import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { tokenOf } from '../../../../src/index.ts'
import { redisStore } from '../../../../src/redis.ts'
import { inParallel } from '../../../support/in-parallel.ts'
import { countBy } from '../../../support/race-logins.ts'
import {
  type ClusterClient,
  type ClusterNode,
  moveSlot,
  type RedisCluster,
  startCluster,
} from '../../../support/redis-cluster.ts'
import { type RedisHost, startRedisHost } from '../../../support/redis-host.ts'
import { connectThroughSentinel, startReplicated, startSentinelOf } from '../../../support/redis-replicated.ts'
import { redisRights } from '../../../support/redis-rights.ts'
import { userKey } from '../../../support/redis-rows.ts'

let cluster: RedisCluster
let clients: readonly [ClusterClient, ClusterClient]

beforeAll(async () => {
  cluster = await startCluster()
  clients = await Promise.all([cluster.connect(), cluster.connect()])
})
afterAll(async () => {
  for (const client of clients) client.destroy()
  await cluster.stop()
})

describe('two applications on a cluster of three masters', () => {
  let hosts: readonly RedisHost[]
  beforeAll(async () => {
    const settings = { maximum: 3, logic: 'logout_oldest' }
    hosts = await Promise.all(clients.map((client) => startRedisHost({ client, settings })))
  })
  afterAll(() => Promise.all(hosts.map((host) => host.close())))

  const hostOf = (n: number) => hosts[n % hosts.length] as RedisHost

  it('spread their users over all masters, and have every call for a user answered by one of them', async () => {
    for (const { admin } of cluster.nodes) await admin.sendCommand(['CONFIG', 'RESETSTAT'])
    const browsers = await inParallel(60, 10, (n) => hostOf(n).signedIn(`user${n}`))
    for (const { admin } of cluster.nodes) {
      expect((await admin.keys('sessmgr:u:*')).length).toBeGreaterThan(5)
      const errors = [...String(await admin.info('errorstats')).matchAll(/^errorstat_(\w+)/gm)].map(([, code]) => code)
      // A script is sent to each master when that one needs it. Above all there is no CROSSSLOT.
      expect(errors.filter((code) => code !== 'NOSCRIPT')).toEqual([])
    }
    await hostOf(0).limiter.sessions.logoutAllUsers()
    expect(countBy(await Promise.all(browsers.map((browser) => browser.me())))).toEqual({ 401: 60 })
  })

  it('rule 5: hold exactly the maximum after parallel logins', async () => {
    const statuses = await inParallel(200, 40, async (n) => (await hostOf(n).browser().login('alice')).status)
    expect(countBy(statuses)).toEqual({ 200: 200 })
    expect(await hostOf(0).limiter.sessions.count(2)).toBe(3)
  })

  it('lose nothing and admit nobody too many while a slot moves from master to master under load', async () => {
    const key = userKey(3)
    const [first, second] = hosts as readonly [RedisHost, RedisHost]
    const ended = await first.signedIn('bob')
    const endedToken = tokenOf(ended.sessionId() ?? '')
    expect(await second.limiter.sessions.end(3, endedToken)).toBe(true)

    let moving = true
    let mostAtOnce = 0
    const statuses: number[] = []
    const kept: (() => Promise<number>)[] = []
    const logIn = async (n: number) => {
      while (moving) {
        const browser = hostOf(n).browser()
        statuses.push((await browser.login('bob')).status)
        kept.push(() => browser.me())
      }
    }
    const watch = async () => {
      while (moving) mostAtOnce = Math.max(mostAtOnce, (await first.store.sessions.read(3)).sessions.length)
    }
    const load = Promise.all([logIn(0), logIn(1), logIn(2), logIn(3), watch()])
    const round = [...cluster.nodes]
    for (let moves = 0; moves < 6 || statuses.length <= 50; moves++) {
      const { slot, owner } = await cluster.ownerOf(key)
      const to = round.find((node) => node !== owner && node !== round[moves % 3]) as ClusterNode
      await moveSlot(cluster, { slot, from: owner, to, holdMs: 150 })
    }
    moving = false
    await load

    expect(countBy(statuses)).toEqual({ 200: statuses.length })
    expect(mostAtOnce).toBeLessThanOrEqual(3)
    const live = (await Promise.all(kept.map((me) => me()))).filter((status) => status === 200)
    expect(live).toHaveLength(3)
    expect(await first.limiter.sessions.count(3)).toBe(3)
    expect(await ended.me()).toBe(401)
  })

  it('work with the rights that docs/stores.md names, also while a slot moves', async () => {
    const user = ['on', '>password', '~rights:*', ...redisRights(), '+cluster|slots', '+asking']
    for (const { admin } of cluster.nodes) await admin.sendCommand(['ACL', 'SETUSER', 'app', ...user])
    const client = await cluster.connect({ username: 'app', password: 'password' })
    onTestFinished(() => client.destroy())
    const { sessions } = redisStore({ client, prefix: 'rights:' })
    const { slot, owner } = await cluster.ownerOf(userKey('dora', 'rights:'))
    const to = cluster.nodes.find((node) => node !== owner) as ClusterNode
    const session = { sessionId: 'a', ttlMs: 60_000, ip: null, userAgent: null, device: null, generation: 0 }
    await sessions.adopt('dora', session)
    let moving = true
    const moved = moveSlot(cluster, { slot, from: owner, to, holdMs: 150 }).then(() => {
      moving = false
    })
    while (moving) expect((await sessions.read('dora')).sessions).toHaveLength(1)
    await moved
    await sessions.end('dora')
    expect((await sessions.read('dora')).sessions).toEqual([])
  })

  it('confirm the end of a session only when a replica of its master has it', async () => {
    const client = await cluster.connect()
    onTestFinished(() => client.destroy())
    const options = { client, durability: 'replica', prefix: 'durable:' } as const
    const store = redisStore({ ...options, deadlineMs: 300 })
    const session = { sessionId: 'a', ttlMs: 60_000, ip: null, userAgent: null, device: null, generation: 0 }
    await redisStore(options).sessions.adopt('alice', session)
    // There are no replicas in this cluster.
    await expect(store.sessions.end('alice')).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(store.epoch.advance()).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})

it('an application behind a sentinel goes on with the promoted replica, and knows every session and every end', async () => {
  const servers = await startReplicated()
  const sentinel = await startSentinelOf(servers)
  onTestFinished(async () => {
    await sentinel.stop()
    await servers.stop()
  })
  const client = await connectThroughSentinel(sentinel)
  onTestFinished(() => client.destroy())
  const host = await startRedisHost({ client, durability: 'replica', deadlineMs: 2000 })
  onTestFinished(() => host.close())
  const [alice, bob] = [await host.signedIn('alice'), await host.signedIn('bob')]
  await host.limiter.sessions.endAll(3)
  await servers.master.kill()
  await vi.waitFor(async () => expect(await alice.me()).toBe(200), { timeout: 60_000, interval: 100 })
  expect(await bob.me()).toBe(401)
  expect((await host.browser().login('bob')).status).toBe(200)
  expect(await host.limiter.sessions.count(2)).toBe(1)
})
