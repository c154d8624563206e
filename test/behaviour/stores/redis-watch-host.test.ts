import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { duplicatesThrough } from '../../support/late-watch.ts'
import { connectRedis, type NodeRedis } from '../../support/redis-client.ts'
import { type RedisHost, startRedisHost } from '../../support/redis-host.ts'
import { startProxy, type TcpProxy } from '../../support/tcp-proxy.ts'
import { useRedis } from '../../support/use-redis.ts'

const db = useRedis()

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
    for (let round = 0; round < 10; round++) {
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
