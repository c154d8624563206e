import { inspect } from 'node:util'
import { RedisStore } from 'connect-redis'
import Redis from 'ioredis'
import { expect, it, onTestFinished, vi } from 'vitest'
import { fromIoredis, type RedisClient, redisStore } from '../../../../src/redis.ts'
import { newSession } from '../../../contracts/store/store-case.ts'
import { aWarning } from '../../../support/a-warning.ts'
import { connectRedis } from '../../../support/redis-client.ts'
import { startRedisHost } from '../../../support/redis-host.ts'
import { redisRights } from '../../../support/redis-rights.ts'
import { startRedis } from '../../../support/redis-server.ts'
import { useRedis } from '../../../support/use-redis.ts'

const db = useRedis()

/** A client of a user with some rights. */
async function connectAs(...rights: readonly string[]) {
  await db.client.sendCommand(['ACL', 'SETUSER', 'app', 'reset', 'on', '>password', ...rights])
  const client = await connectRedis(db.server.url, { username: 'app', password: 'password' })
  onTestFinished(() => client.destroy())
  return client
}

async function start(client: RedisClient, options: object = {}) {
  const host = await startRedisHost({ client: client as never, ...options })
  onTestFinished(() => host.close())
  return host
}

it('a server that may evict keys is warned about once by each process that starts', async () => {
  onTestFinished(() => void db.client.configSet('maxmemory-policy', 'noeviction'))
  for (const policy of ['noeviction', 'volatile-ttl', 'allkeys-lru']) {
    const warnings: string[] = []
    const warn = (message: string) => void warnings.push(message)
    await db.client.configSet('maxmemory-policy', policy)
    const store = redisStore({ client: db.client, logger: { warn, error: warn } })
    for (let request = 0; request < 3; request++) await store.epoch.current()
    await store.transients.set('any', 'text', 1000)
    const rule = /may evict.* \(maxmemory-policy .*\)\. Set maxmemory-policy to noeviction\./
    const expected = policy === 'noeviction' ? [] : [aWarning('redis-may-evict', rule)]
    await expect.poll(() => warnings, { message: policy }).toEqual(expected)
  }
})

it('the rights that docs/stores.md names are enough for sessmgr and connect-redis, and for uninstalling', async () => {
  const client = await connectAs('~sessmgr:*', '~sess:*', ...redisRights())
  const host = await start(client, { settings: { maximum: 2, logic: 'logout_oldest' }, touchEvery: 0 })
  const { limiter } = host
  const browsers = [await host.signedIn('alice'), await host.signedIn('alice'), await host.signedIn('alice')]
  expect(await Promise.all(browsers.map((browser) => browser.me()))).toEqual([401, 200, 200])
  expect((await browsers[2]?.post('/logout'))?.status).toBe(204)
  await limiter.settings.update({ maximum: 3 })
  const { id } = await limiter.passwords.create(2, 'backup')
  expect(await limiter.passwords.revoke(2, id)).toBe(true)
  await limiter.sessions.logoutAllUsers()
  expect(await browsers[1]?.me()).toBe(401)
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

it('a user without the rights to ask for many sessions at once logs in all the same', async () => {
  const client = await connectAs('~*', '+@all', '-exists', '-hscan')
  const host = await start(client, { settings: { maximum: 2, logic: 'logout_oldest' } })
  const [first, , third] = [await host.signedIn('alice'), await host.signedIn('alice'), await host.signedIn('alice')]
  expect([await first.me(), await third?.me(), host.logs]).toEqual([401, 200, []])
})

it('without memory left sessions can be ended, those of everybody as well, and nothing else is written', async () => {
  const host = await start(db.client)
  const [alice, bob] = [await host.signedIn('alice'), await host.signedIn('bob')]
  await db.client.configSet('maxmemory', '1')
  onTestFinished(async () => void (await db.client.configSet('maxmemory', '0')))
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

it('rule 28: a wipe removes what was written below the prefix, and no key of anybody else', async () => {
  for (const prefix of ['sessmgr:', 'sess:', 's', 'a*:']) {
    await db.client.flushAll()
    const foreign = ['sess:abcdef', 's:thing', 'sessmgr:other:u:1', 'sessmgr:session', 'a*:b', 'ab:u:1', 'other']
    for (const key of foreign) await db.client.set(key, 'of somebody else')
    const store = redisStore({ client: db.client, prefix })
    await store.sessions.adopt('a b}', newSession('x'))
    await store.epoch.advance()
    await store.options.set('thing', 1)
    await store.passwords.add(1, { id: 'p', name: 'n', hash: 'ab', createdAt: 1 })
    await store.transients.set('t', 'text', 60_000)
    await store.transients.advance('g')
    expect(await db.client.dbSize(), prefix).toBe(foreign.length + 6)
    await store.wipe()
    expect((await db.client.keys('*')).sort(), prefix).toEqual(foreign.toSorted())
  }
})

it('a wipe has a deadline, and says what the server has said where a command is not to be had', async () => {
  const client = await connectAs('~*', '+@all', '-scan')
  const refusal = { code: 'store_unavailable', cause: { message: expect.stringMatching(/NOPERM .*scan/) } }
  await expect(redisStore({ client }).wipe()).rejects.toMatchObject(refusal)
  db.server.process.kill('SIGSTOP')
  try {
    const wiping = redisStore({ client: db.client, deadlineMs: 100 }).wipe()
    await expect(wiping).rejects.toMatchObject({ code: 'store_unavailable' })
  } finally {
    db.server.process.kill('SIGCONT')
  }
  await vi.waitFor(() => redisStore({ client: db.client }).wipe(), { timeout: 30_000 })
})

it('an error of the store tells no argument that Redis repeats or ioredis attaches', async () => {
  const [sessionId, secret] = ['a-raw-session-id', 'the secret that signs nonces']
  const started = async (options: readonly string[]) => {
    const server = await startRedis(['--save', '', '--appendonly', 'no', ...options])
    onTestFinished(() => server.stop())
    return server
  }
  const expectSecrecy = async (client: RedisClient, sentence: string) => {
    const { sessions, options } = redisStore({ client })
    const calls = [sessions.adopt(2, newSession(sessionId)), options.set('sessmgr.secret', secret)]
    for (const failing of await Promise.allSettled(calls)) {
      const { reason } = failing as PromiseRejectedResult
      expect(reason).toMatchObject({ code: 'store_unavailable' })
      const whole = inspect(reason, { depth: 10 })
      expect(whole).toContain(sentence)
      for (const argument of [sessionId, secret]) expect(whole).not.toContain(argument)
    }
  }
  const unknown = ['EVALSHA', 'HGET', 'HSET'].flatMap((name) => ['--rename-command', name, ''])
  const client = await connectRedis((await started(unknown)).url)
  onTestFinished(() => client.destroy())
  await expect(client.evalSha('0', { keys: [sessionId], arguments: [] })).rejects.toThrow(sessionId)
  await expectSecrecy(client, 'unknown command')
  const ioredis = new Redis((await started(['--maxmemory', '1'])).port)
  onTestFinished(() => ioredis.disconnect())
  const refused = await ioredis.set('session', sessionId).catch((error: unknown) => error)
  expect(inspect(refused, { depth: 10 })).toContain(sessionId)
  await expectSecrecy(fromIoredis(ioredis), 'OOM')
})
