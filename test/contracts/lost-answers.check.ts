import Redis from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tokenOf } from '../../src/index.ts'
import { fromIoredis, type RedisClient, redisStore } from '../../src/redis.ts'
import { DocumentRows } from '../../src/stores/document/document-rows.ts'
import { type Failover, startFailover } from '../support/failover-redis.ts'
import { connectRedis, type NodeRedis } from '../support/redis-client.ts'
import { redisDriver } from '../support/redis-drivers.ts'
import type { RedisConnection } from '../support/redis-kinds.ts'
import { textOf } from '../support/redis-rows.ts'
import { startProxiedRedis } from '../support/use-redis.ts'
import { startWatched } from '../support/watched-process.ts'
import { idsOf, LONG, login } from './store/store-case.ts'

const KEY = 'u:alice'
const STORED = `sessmgr:${KEY}`
const DEADLINE_MS = 10_000

/** The clients that treat commands differently that were not answered when a connection is lost. */
const RETRIES: Readonly<Record<string, (url: string) => Promise<RedisConnection>>> = {
  'node-redis, which fails it': async (url) => {
    const client = await connectRedis(url)
    return { client, close: () => client.destroy() }
  },
  'ioredis, which sends it again': async (url) => {
    const client = new Redis(url)
    client.on('error', () => {})
    return { client: fromIoredis(client), close: () => client.disconnect() }
  },
}

/** A server, rows over a proxy in front of it, and a client that goes past the proxy. */
async function startCut(connect: (url: string) => Promise<RedisConnection>) {
  const { server, proxy } = await startProxiedRedis()
  const [{ client, close }, admin] = [await connect(proxy.url), await connectRedis(server.url)]
  onTestFinished(async () => {
    await close()
    admin.destroy()
  })
  const rows = new DocumentRows(redisDriver(client), { deadlineMs: DEADLINE_MS })
  const text = async () => textOf(await admin.get(STORED))
  /** Runs a task whose first write is made but not answered, and then lets everything through again. */
  const losingReply = async <T>(task: () => Promise<T>, isMade: () => Promise<boolean>): Promise<T> => {
    proxy.set({ kind: 'lost reply' })
    const running = task()
    running.catch(() => {})
    await expect.poll(isMade).toBe(true)
    proxy.set({ kind: 'none' })
    return running
  }
  return { client, admin, proxy, rows, text, losingReply }
}

/** A change that counts, and returns what it has counted to. */
const counted = ({ text = '0' }: { readonly text: string | undefined }) => ({
  result: Number(text) + 1,
  write: { text: String(Number(text) + 1), lifeMs: 60_000 },
})

const runsOf = async (admin: NodeRedis) =>
  Number(/cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0)

describe.each(Object.entries(RETRIES))('a write whose reply is lost with its connection, by %s', (kind, connect) => {
  it('is made once, and its result is returned', async () => {
    const { rows, text, losingReply } = await startCut(connect)
    expect(await rows.change(KEY, counted)).toBe(1)
    for (let count = 2; count <= 10; count++) {
      const known = await rows.read(KEY, true)
      const changed = losingReply(
        () => rows.change(KEY, counted, known),
        async () => (await text()) === String(count),
      )
      expect(await changed).toBe(count)
      expect(await text()).toBe(String(count))
    }
  })

  it(`is ${kind.includes('again') ? 'sent twice, and refused the second time' : 'sent once'}`, async () => {
    const { rows, admin, text, losingReply } = await startCut(connect)
    await rows.change(KEY, counted)
    const known = await rows.read(KEY, true)
    const before = await runsOf(admin)
    const isMade = async () => (await text()) === '2'
    expect(await losingReply(() => rows.change(KEY, counted, known), isMade)).toBe(2)
    // The write, perhaps again, and the reading that finds it.
    expect((await runsOf(admin)) - before).toBe(kind.includes('again') ? 3 : 2)
  })

  it('and that ends a session returns it, and no other end of it does', async () => {
    const { client, admin, losingReply } = await startCut(connect)
    const [{ sessions }, other] = [redisStore({ client, deadlineMs: DEADLINE_MS }), redisStore({ client: admin })]
    await login(sessions, 'alice', 'a', LONG)
    await login(sessions, 'alice', 'b', LONG)
    await sessions.read('alice')
    const isMade = async () => (await other.sessions.useOf('alice', tokenOf('a'))) === undefined
    const ended = await losingReply(() => sessions.end('alice', [tokenOf('a')]), isMade)
    expect(ended.map(({ sessionId }) => sessionId)).toEqual(['a'])
    expect(await sessions.end('alice', [tokenOf('a')])).toEqual([])
    expect(await idsOf(sessions, 'alice')).toEqual(['b'])
  })
})

it('a write that was refused before the connection was lost is not taken for made', async () => {
  const { rows, admin, text, losingReply } = await startCut(RETRIES['node-redis, which fails it'] as never)
  const other = new DocumentRows(redisDriver(admin), { deadlineMs: DEADLINE_MS })
  await rows.change(KEY, counted)
  const known = await rows.read(KEY, true)
  await other.change(KEY, counted)
  const before = await runsOf(admin)
  const changing = losingReply(
    () => rows.change(KEY, counted, known),
    async () => (await runsOf(admin)) > before,
  )
  await expect(changing).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(await text()).toBe('2')
})

describe.each<Failover>(['the primary dies', 'the primary becomes a replica'])(
  'a failover that loses the last writes: %s',
  (how) => {
    async function start() {
      const servers = await startFailover()
      onTestFinished(() => servers.stop())
      const clients = await Promise.all([connectRedis(servers.early.url), connectRedis(servers.early.url)])
      onTestFinished(() => {
        for (const client of clients) client.destroy()
      })
      const [one, two] = clients
      /** Waits until a client is at the new primary. */
      const arrived = (client: RedisClient) =>
        expect
          .poll(
            () =>
              redisDriver(client)
                .get([KEY], true)
                .then(Boolean, () => false),
            { timeout: 20_000 },
          )
          .toBe(true)
      return { servers, one, two, arrived: () => Promise.all(clients.map(arrived)) }
    }

    it("revives nothing that was ended with durability 'replica'", async () => {
      const { servers, one, arrived } = await start()
      const store = redisStore({ client: one, durability: 'replica', deadlineMs: DEADLINE_MS })
      const users = ['alice', 'bob', 'carol', 'dave']
      for (const user of users) for (const id of ['1', '2']) await login(store.sessions, user, `${user} ${id}`, LONG)
      await store.sessions.end('alice', [tokenOf('alice 1')])
      await store.sessions.end('bob')
      await store.sessions.endOthers('carol', tokenOf('carol 2'))
      await store.sessions.erase?.('dave')
      const { generation = 0 } = (await store.epoch.advance()) ?? {}
      await servers.detach()
      // Lost.
      for (const user of users.slice(0, 3)) await login(store.sessions, user, `${user} late`, LONG)
      await servers.failOver(how)
      await arrived()
      const live = await Promise.all(users.map((user) => idsOf(store.sessions, user)))
      expect(live).toEqual([['alice 2'], [], ['carol 2'], []])
      expect((await store.epoch.current()).generation).toBe(generation)
      // Nor by a request that comes back with one.
      const back = { sessionId: 'bob 1', ttlMs: LONG, ip: null, userAgent: null, device: null, generation }
      expect(await store.sessions.adopt('bob', back)).toBeUndefined()
    })

    it('lets no late write of a lost name overwrite what was written since', async () => {
      const { servers, one, two, arrived } = await start()
      const [rows, other] = [one, two].map(
        (client) => new DocumentRows(redisDriver(client), { deadlineMs: DEADLINE_MS }),
      ) as [DocumentRows, DocumentRows]
      expect(await rows.change(KEY, counted)).toBe(1)
      await expect.poll(() => one.wait(1, 1000)).toBe(1)
      await servers.detach()
      expect(await rows.change(KEY, counted)).toBe(2)
      const lost = await rows.read(KEY, true)
      await servers.failOver(how)
      await arrived()
      // The row is as before, and later has another write in place of the lost one.
      expect((await other.read(KEY, true)).text).toBe('1')
      const late = { revision: 'late', text: 'late' }
      expect(await redisDriver(one).swap(KEY, lost.revision, late, 60_000)).toBe(false)
      expect(await other.change(KEY, counted)).toBe(2)
      expect(await redisDriver(one).swap(KEY, lost.revision, late, 60_000)).toBe(false)
      // A change that began from the lost write begins again from what is there.
      expect(await rows.change(KEY, counted, lost)).toBe(3)
      expect((await other.read(KEY, true)).text).toBe('3')
    })
  },
)

describe('two processes that remember rows', () => {
  it('know of an end by the other one, whose reply was lost, and that the other sessions live on', async () => {
    const { server, proxy } = await startProxiedRedis()
    const client = await connectRedis(proxy.url)
    const here = await startWatched(server.url)
    const there = await startWatched(server.url, { client, tracking: true, deadlineMs: DEADLINE_MS })
    onTestFinished(async () => {
      await here.close()
      await there.close()
    })
    for (const { watch, sessionStore } of [here, there]) {
      await expect.poll(() => watch.whyNot(sessionStore)).toBeUndefined()
    }
    const isLive = async (process: typeof here, session: Parameters<typeof here.ask>[0], id: string) =>
      (await process.ask(session, id).catch(() => undefined))?.isLive
    const sessions = []
    for (const id of ['a', 'b', 'c']) sessions.push([await here.login('alice', id), id] as const)
    const [ended, ...others] = sessions as [(typeof sessions)[0], ...typeof sessions]
    for (const process of [here, there]) {
      for (const [session, id] of sessions) {
        await expect.poll(() => isLive(process, { ...session }, id)).toBe(true)
        await expect.poll(() => isLive(process, session, id)).toBe(true)
      }
    }
    await there.store.sessions.read('alice')
    proxy.set({ kind: 'lost reply' })
    const ending = there.store.sessions.end('alice', [ended[0].token])
    await expect.poll(() => isLive(here, ...ended)).toBe(false)
    for (const other of others) expect(await isLive(here, ...other)).toBe(true)
    proxy.set({ kind: 'none' })
    expect((await ending).map(({ sessionId }) => sessionId)).toEqual(['a'])
    for (const other of others) await expect.poll(() => isLive(there, ...other), { timeout: 20_000 }).toBe(true)
    expect(await isLive(there, ...ended)).toBe(false)
  })
})
