import { RedisStore } from 'connect-redis'
import { createClient } from 'redis'
import { expect, it, onTestFinished, vi } from 'vitest'
import { redisStore } from '../../../src/redis.ts'
import { Browser } from '../../support/browser.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { startRedisHost } from '../../support/redis-host.ts'
import { useRedis } from '../../support/use-redis.ts'

const db = useRedis()

it('a session store with the same client is asked once whether it holds many sessions', async () => {
  const { client } = db
  const store = redisStore({ client })
  await client.mSet({ 'app:a': '{}', 'app:b': '{}', 'sess:c': '{}' })
  const sessions = new RedisStore({ client, prefix: 'app:' })
  const get = vi.spyOn(client, 'get')
  expect(await store.holdsAll?.(sessions, ['a', 'b'])).toBe(true)
  expect(await store.holdsAll?.(sessions, ['a', 'b', 'c'])).toBe(false)
  expect(get).not.toHaveBeenCalled()
  get.mockRestore()
})

it('one that may keep its sessions elsewhere, or under other keys, is not asked that way', async () => {
  const { client } = db
  const store = redisStore({ client })
  await client.mSet({ 'sess:a': '{}', 'sess:b': '{}' })
  const elsewhere = await connectRedis(db.server.url)
  expect(await store.holdsAll?.(new RedisStore({ client: elsewhere }), ['a', 'b'])).toBe(false)
  expect(await store.holdsAll?.({ client }, ['a', 'b'])).toBe(false)
  elsewhere.destroy()
})

it('a login at the limit asks once while all are there, and finds the one that is lost', async () => {
  const { client } = db
  const host = await startRedisHost({ client, settings: { maximum: 3, logic: 'block' } })
  onTestFinished(() => host.close())
  for (let count = 0; count < 3; count++) await host.signedIn('alice')
  await client.configResetStat()
  const browser = new Browser(host.origin)
  expect((await browser.login('alice')).status).toBe(403)
  expect(await client.info('commandstats')).toMatch(/^cmdstat_exists:calls=1,/m)
  const [lost = ''] = await client.keys('sess:*')
  await client.del(lost)
  expect((await browser.login('alice')).status).toBe(200)
  expect(await host.limiter.sessions.count(2)).toBe(3)
})

it('a user of Redis without the rights to ask for many at once logs in all the same', async () => {
  const { client, server } = db
  await client.sendCommand(['ACL', 'SETUSER', 'old', 'on', '>password', '~*', '+@all', '-exists', '-hscan'])
  const limited = await createClient({ url: server.url, username: 'old', password: 'password' }).connect()
  onTestFinished(() => limited.destroy())
  const host = await startRedisHost({ client: limited, settings: { maximum: 2, logic: 'logout_oldest' } })
  onTestFinished(() => host.close())
  const [first, , third] = [await host.signedIn('alice'), await host.signedIn('alice'), await host.signedIn('alice')]
  expect([await first.me(), await third?.me()]).toEqual([401, 200])
  expect(host.logs).toEqual([])
})
