import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { explicitCalls, type ReadingClient } from '../../../../src/explicit.ts'
import { sessmgr } from '../../../../src/index.ts'
import { redisStore } from '../../../../src/redis.ts'
import { startKoaHost } from '../../../support/koa-host.ts'
import { duplicatesThrough } from '../../../support/late-watch.ts'
import { connectRedis, type NodeRedis } from '../../../support/redis-client.ts'
import { type RedisHost, startRedisHost } from '../../../support/redis-host.ts'
import { startProxy, type TcpProxy } from '../../../support/tcp-proxy.ts'
import { useRedis } from '../../../support/use-redis.ts'

const db = useRedis()
const key = (id: string) => `sess:${id}`
const read = async (client: ReadingClient, id: string) => JSON.parse((await client.get(key(id))) ?? 'null')

/** A store whose checks are counted, and which watches through a proxy, and another one on the same server. */
async function watchingStore() {
  const [client, proxy] = [await connectRedis(db.server.url), await startProxy(db.server.port)]
  duplicatesThrough(client, proxy.port)
  const store = redisStore({ client, tracking: true, deadlineMs: 300 })
  const other = sessmgr({ store: redisStore({ client: db.client }) })
  onTestFinished(async () => {
    await Promise.all([store.close(), other.close()])
    client.destroy()
    await proxy.stop()
  })
  return { client, proxy, store, other, checks: vi.spyOn(store.epoch, 'current') }
}

describe('the sessions of an application on Koa', () => {
  it('are read and checked at once with its function, and end elsewhere all the same', async () => {
    const { client, proxy, store, other, checks } = await watchingStore()
    const sessions = {
      get: (id: string) => read(client as never, id),
      set: (id: string, data: object) => client.set(key(id), JSON.stringify(data)),
      destroy: (id: string) => client.del(key(id)),
    }
    const own = vi.spyOn(sessions, 'get')
    const { browser } = await startKoaHost({ store: sessions, sessmgr: { store }, read })
    const alice = browser()
    await alice.login('alice')
    const me = async () => (await alice.get('/me')).status
    await expect.poll(() => store.watch?.whyNot()).toBeUndefined()
    expect([await me(), await me()]).toEqual([200, 200])
    checks.mockClear()
    own.mockClear()
    expect([await me(), await me()]).toEqual([200, 200])
    expect([checks.mock.calls.length, own.mock.calls.length]).toEqual([0, 0])
    proxy.set({ kind: 'reset' })
    expect(await me()).toBe(200)
    proxy.set({ kind: 'none' })
    await expect.poll(() => store.watch?.whyNot()).toBeUndefined()
    expect(await me()).toBe(200)
    await other.sessions.endAll(2)
    expect(await me()).toBe(401)
    await expect(startKoaHost({ read: 'get' as never })).rejects.toMatchObject({ code: 'invalid_option' })
  })
})

describe('the sessions of explicit calls', () => {
  it('are loaded and checked at once, and end elsewhere all the same', async () => {
    const { client, proxy, store, other, checks } = await watchingStore()
    const limiter = sessmgr({ store })
    const destroy = (id: string) => client.del(key(id))
    const calls = explicitCalls(limiter, { exists: (id) => client.exists(key(id)), destroy })
    await calls.login({ userId: 7 }, async () => {
      await client.set(key('a'), '{"userId":7}')
      return { sessionId: 'a', ttlMs: 60_000 }
    })
    const clients: unknown[] = []
    const load = async () => {
      const { session, ended } = await calls.load({ sessionId: 'a' }, (given = client as never) => {
        clients.push(given)
        return read(given, 'a')
      })
      return session ? 'live' : ended?.reason
    }
    await load()
    await expect.poll(() => store.watch?.whyNot()).toBeUndefined()
    expect([await load(), await load()]).toEqual(['live', 'live'])
    checks.mockClear()
    expect(await load()).toBe('live')
    expect([checks.mock.calls.length, clients.at(-1) === client]).toEqual([0, false])
    proxy.set({ kind: 'reset' })
    expect(await load()).toBe('live')
    expect(clients.at(-1)).toBe(client)
    proxy.set({ kind: 'none' })
    await expect.poll(() => store.watch?.whyNot()).toBeUndefined()
    expect([await load(), await load()]).toEqual(['live', 'live'])
    await other.sessions.logoutAllUsers()
    expect(await load()).toBe('logout_all')
    expect(await load()).toBe('missing')
  })

  it('rule 74: have no deadline where they are read elsewhere', async () => {
    const { store } = await watchingStore()
    const calls = explicitCalls(sessmgr({ store }), { exists: () => true, destroy() {} })
    await calls.login({ userId: 7 }, async () => ({ sessionId: 'a', ttlMs: 60_000 }))
    const load = async () => (await calls.load({ sessionId: 'a' }, () => sleep(500, { userId: 7 }))).session
    await load()
    await expect.poll(() => store.watch?.whyNot()).toBeUndefined()
    for (let turn = 0; turn < 3; turn++) expect(await load()).toMatchObject({ userId: 7 })
  })
})

/** An application whose watched connection alone goes through a proxy. */
describe('an application that watches its sessions', () => {
  let proxy: TcpProxy
  let client: NodeRedis
  let host: RedisHost
  beforeEach(async () => {
    proxy = await startProxy(db.server.port)
    client = await connectRedis(db.server.url)
    duplicatesThrough(client, proxy.port)
    host = await startRedisHost({ client, tracking: true, deadlineMs: 2000, cookieMaxAge: 3_600_000 })
  })
  afterEach(async () => {
    await host.close()
    client.destroy()
    await proxy.stop()
  })

  /** Signs in, and waits until requests ask for nothing but their session. */
  async function watched(login: string) {
    const browser = await host.signedIn(login)
    await expect.poll(() => host.store.watch?.whyNot()).toBeUndefined()
    await browser.me()
    return browser
  }

  it('rule 5: answers one 503 when the watched connection hangs, and goes on without it at once', async () => {
    const browser = await watched('alice')
    proxy.set({ kind: 'black hole' })
    const statuses: number[] = []
    for (let request = 0; request < 5; request++) statuses.push(await browser.me())
    expect(statuses).toEqual([503, 200, 200, 200, 200])
    proxy.set({ kind: 'none' })
    await expect.poll(() => host.store.watch?.whyNot(), { timeout: 20_000 }).toBeUndefined()
    expect(await browser.me()).toBe(200)
  })

  it('answers as ever while the watched connection is closed again and again', async () => {
    const browser = await watched('alice')
    for (let round = 0; round < 5; round++) {
      const answers = [browser.me(), browser.me()]
      proxy.set({ kind: 'reset' })
      answers.push(browser.me())
      proxy.set({ kind: 'none' })
      expect(await Promise.all(answers)).toEqual([200, 200, 200])
    }
  })

  it('signs out who was ended elsewhere, and says why', async () => {
    const [alice, bob] = [await watched('alice'), await watched('bob')]
    const other = await startRedisHost({ client: db.client })
    await other.limiter.sessions.endAll(2)
    expect([await alice.me(), await bob.me()]).toEqual([401, 200])
    await other.limiter.sessions.logoutAllUsers()
    expect(await bob.me()).toBe(401)
    await other.close()
  })
})
