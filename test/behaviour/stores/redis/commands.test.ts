import { RedisStore } from 'connect-redis'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type SessmgrStore, sessmgr, tokenOf } from '../../../../src/index.ts'
import { redisStore } from '../../../../src/redis.ts'
import { newSession } from '../../../contracts/store/store-case.ts'
import { connectRedis } from '../../../support/redis-client.ts'
import { startRedisHost } from '../../../support/redis-host.ts'
import { useRedis } from '../../../support/use-redis.ts'

const HOUR = 3_600_000

const db = useRedis()
beforeEach(async () => {
  await db.client.sendCommand(['SCRIPT', 'FLUSH'])
  await db.client.configResetStat()
})

/** How often each command is called while something is done, those that scripts call included. */
async function commandsOf(task: () => Promise<unknown>): Promise<Record<string, number>> {
  await db.client.configResetStat()
  await task()
  const lines = String(await db.client.info('commandstats')).matchAll(/^cmdstat_((?!config|info)\w+)\S*:calls=(\d+)/gm)
  return Object.fromEntries([...lines].map(([, command, calls]) => [command, Number(calls)]))
}

async function start(options: object = {}) {
  const host = await startRedisHost({ client: db.client, cookieMaxAge: HOUR, ...options })
  onTestFinished(() => host.close())
  return host
}

/** Takes every way that a session can take. */
async function useEveryScript(user: string, { sessions, epoch, options }: SessmgrStore): Promise<void> {
  const read = await sessions.read(user)
  expect(await sessions.commit(user, read, { admit: newSession('a'), end: [] })).toMatchObject({ committed: true })
  expect(await sessions.touch(user, tokenOf('a'), 60_000)).toBe(true)
  expect(await sessions.adopt(user, newSession('b'))).toBeDefined()
  expect(await sessions.end(user)).toHaveLength(2)
  expect((await epoch.advance())?.generation).toBeGreaterThan(0)
  await options.set('option', 1)
}

it('scripts are sent as text once, by their digest every time, and again where the server has forgotten them', async () => {
  const store = redisStore({ client: db.client })
  const { eval: texts, evalsha: digests } = await commandsOf(async () => {
    for (let round = 0; round < 5; round++) await useEveryScript(`user ${round}`, store)
  })
  // One more asks for the settings of the server.
  expect(texts).toBe(3)
  // A change is a read and a write. On a fast machine, one of a user begins from what the one before has written.
  expect(digests).toBeGreaterThanOrEqual(5 * 9)
  expect(digests).toBeLessThanOrEqual(5 * 13)
  let isCalling = true
  const forgetting = (async () => {
    while (isCalling) await db.client.sendCommand(['SCRIPT', 'FLUSH'])
  })()
  await Promise.all(Array.from({ length: 10 }, (_, index) => useEveryScript(`parallel ${index}`, store)))
  isCalling = false
  await forgetting
})

describe('a Redis that serves an application', () => {
  it('rule 17: never walks its keys, and does as much for a site-wide logout with many sessions as with none', async () => {
    const host = await start({ settings: { maximum: 2, logic: 'logout_oldest' } })
    /** What a logout does, but for what is read again because it was last read a while ago. */
    const logout = async () => {
      const { get = 0, time, ...counts } = await commandsOf(() => host.limiter.sessions.logoutAllUsers())
      expect(get).toBeLessThan(10)
      return counts
    }
    await logout()
    const withNone = await logout()
    const counts = await commandsOf(async () => {
      for (let user = 1; user <= 10; user++) {
        const browsers = [host.browser(), host.browser(), host.browser()]
        for (const browser of browsers) expect((await browser.login(`user${user}`)).status).toBe(200)
        expect([await browsers[0]?.me(), await browsers[2]?.me()]).toEqual([401, 200])
        await browsers[1]?.post('/logout')
        expect(await host.limiter.sessions.list(1000 + user)).toHaveLength(1)
      }
      await host.limiter.sessions.endAll(1001)
      await host.limiter.settings.update({ maximum: 3 })
    })
    expect(counts.evalsha).toBeGreaterThan(30)
    expect(Object.keys(counts).filter((name) => /^(keys|[sz]?scan|randomkey|sort|flush\w*)$/.test(name))).toEqual([])
    const { sessions } = redisStore({ client: db.client })
    await Promise.all(Array.from({ length: 200 }, (_, user) => sessions.adopt(`user ${user}`, newSession('a'))))
    expect(await logout()).toEqual(withNone)
  })

  it.each([
    ['the session alone, once it tells of changes', true, 20],
    // The session, its user, the logout epoch.
    ['three things in one round trip, where it tells of nothing', false, 60],
  ])('is asked for %s, and told nothing', async (_, tracking, gets) => {
    const host = await start({ tracking })
    const browser = await host.signedIn('alice')
    if (tracking) await expect.poll(() => host.store.watch?.whyNot()).toBeUndefined()
    // The login and the first request still write after they are answered. Once a minute it is asked what time it is.
    await expect
      .poll(async () => {
        const { get, time, ...others } = await commandsOf(async () => {
          for (let request = 0; request < 20; request++) expect(await browser.me()).toBe(200)
        })
        return [get, others]
      })
      .toEqual([gets, {}])
  })

  it('is asked once for all sessions of a user at the limit, and one that is lost makes room', async () => {
    const host = await start({ settings: { maximum: 3, logic: 'block' } })
    for (let count = 0; count < 3; count++) await host.signedIn('alice')
    const browser = host.browser()
    const counts = await commandsOf(async () => expect((await browser.login('alice')).status).toBe(403))
    expect(counts.exists).toBe(1)
    const [lost = ''] = await db.client.keys('sess:*')
    await db.client.del(lost)
    expect((await browser.login('alice')).status).toBe(200)
    expect(await host.limiter.sessions.count(2)).toBe(3)
  })

  it('is not asked that way about sessions that may be elsewhere, or under other keys', async () => {
    const { client } = db
    const { holdsAll } = redisStore({ client })
    await client.mSet({ 'app:a': '{}', 'app:b': '{}', 'sess:c': '{}', 'sess:d': '{}' })
    const sessions = new RedisStore({ client, prefix: 'app:' })
    const get = vi.spyOn(client, 'get')
    expect([await holdsAll?.(sessions, ['a', 'b']), await holdsAll?.(sessions, ['a', 'b', 'c'])]).toEqual([true, false])
    expect(get).not.toHaveBeenCalled()
    get.mockRestore()
    const elsewhere = await connectRedis(db.server.url)
    const others = [new RedisStore({ client: elsewhere }), { client }]
    for (const other of others) expect(await holdsAll?.(other, ['c', 'd'])).toBe(false)
    elsewhere.destroy()
  })

  it('is asked the same for every password, however many there are, and keeps no trace of users without', async () => {
    const { passwords } = sessmgr({ store: redisStore({ client: db.client }) })
    const { password } = await passwords.create('alice', 'first')
    expect(await passwords.verify('alice', password)).toBe(true)
    // That it was used is noted later, and not again soon.
    await expect.poll(() => db.client.keys('sessmgr:t:*')).toHaveLength(1)
    for (let count = 0; count < 20; count++) await passwords.create('alice', `number ${count}`)
    for (const given of [password, 'x'.repeat(24)]) {
      expect(await commandsOf(() => passwords.verify('alice', given))).toEqual({ get: 1 })
    }
    for (const user of ['nobody', undefined]) expect(await passwords.verify(user, 'x'.repeat(24))).toBe(false)
    const keys = (await db.client.keys('*')).filter((key) => !/^sessmgr:(t:password-used:|o:)/.test(key))
    expect(keys).toEqual(['sessmgr:p:alice'])
  })
})
