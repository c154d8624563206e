import { RedisStore } from 'connect-redis'
import { createClient } from 'redis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { redisStore } from '../../../src/redis.ts'
import { aWarning } from '../../support/a-warning.ts'
import { connectRedis, type NodeRedis } from '../../support/redis-client.ts'
import { startRedisHost } from '../../support/redis-host.ts'
import { redisRights } from '../../support/redis-rights.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'

let server: RedisServer
let admin: NodeRedis
beforeAll(async () => {
  server = await startRedis()
  admin = await connectRedis(server.url)
})
afterAll(async () => {
  admin.destroy()
  await server.stop()
})

test.each([
  ['allkeys-lru', 1],
  ['volatile-ttl', 1],
  ['noeviction', 0],
])('a server with the policy %s is warned about %i times by each process that starts', async (policy, times) => {
  const warnings: string[] = []
  const warn = (message: string) => void warnings.push(message)
  await admin.configSet('maxmemory-policy', policy)
  onTestFinished(() => void admin.configSet('maxmemory-policy', 'noeviction'))
  const store = redisStore({ client: admin, logger: { warn, error: warn } })
  for (let request = 0; request < 3; request++) await store.epoch.current()
  await store.transients.set('any', 'text', 1000)
  if (times > 0) await expect.poll(() => warnings.length).toBe(times)
  const rule = aWarning('redis-may-evict', /may evict.* \(maxmemory-policy .*\)\. Set maxmemory-policy to noeviction\./)
  expect(warnings).toEqual(Array(times).fill(rule))
})

test('the rights that docs/redis.md names are enough for sessmgr and connect-redis, and for uninstalling', async () => {
  await admin.sendCommand(['ACL', 'SETUSER', 'app', 'on', '>password', '~sessmgr:*', '~sess:*', ...redisRights()])
  const client = await createClient({ url: server.url, username: 'app', password: 'password' }).connect()
  onTestFinished(() => client.destroy())

  const host = await startRedisHost({ client, settings: { maximum: 2, logic: 'logout_oldest' }, touchEvery: 0 })
  onTestFinished(() => host.close())
  const { limiter } = host
  const [first, second, third] = [
    await host.signedIn('alice'),
    await host.signedIn('alice'),
    await host.signedIn('alice'),
  ]
  expect([await first.me(), await second.me(), await third.me()]).toEqual([401, 200, 200])
  expect((await third.post('/logout')).status).toBe(204)
  await limiter.settings.update({ maximum: 3 })
  const { id } = await limiter.passwords.create(2, 'backup')
  expect(await limiter.passwords.revoke(2, id)).toBe(true)
  await limiter.sessions.logoutAllUsers()
  expect(await second.me()).toBe(401)

  const { transients, wipe } = redisStore({ client })
  await transients.set('key', 'text', 60_000)
  expect([await transients.get('key'), await transients.advance('group')]).toEqual(['text', 1])
  const sessions = new RedisStore({ client })
  const data = { cookie: { maxAge: 60_000 } } as never
  await new Promise<void>((resolve, reject) => {
    sessions.touch('of-connect-redis', data, (error?: unknown) => (error ? reject(error) : resolve()))
  })
  await wipe()
  expect(host.logs).toEqual([])
})

test('without memory left sessions can be ended, those of everybody as well, and nothing else is written', async () => {
  const host = await startRedisHost({ client: admin })
  onTestFinished(() => host.close())
  const [alice, bob] = [await host.signedIn('alice'), await host.signedIn('bob')]
  await admin.configSet('maxmemory', '1')
  onTestFinished(async () => void (await admin.configSet('maxmemory', '0')))
  const unavailable = { code: 'store_unavailable', cause: { message: expect.stringContaining('OOM') } }
  await expect(host.limiter.settings.update({ maximum: 9 })).rejects.toMatchObject(unavailable)
  expect((await host.browser().login('carol')).status).toBe(503)
  // With no session of theirs left, or none that ends, the mark makes the row longer.
  expect([await host.limiter.sessions.endAll(2), await host.limiter.sessions.endAll(2)]).toEqual([1, 0])
  const [kept] = await host.limiter.sessions.list(3)
  expect(await host.limiter.sessions.endOthers(3, kept?.token ?? '')).toBe(0)
  expect([await alice.me(), await bob.me()]).toEqual([401, 200])
  await host.limiter.sessions.logoutAllUsers()
  expect(await bob.me()).toBe(401)
})
