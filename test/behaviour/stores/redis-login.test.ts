import { describe, expect, it, onTestFinished } from 'vitest'
import { redisStore } from '../../../src/redis.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'

import { connectRedis, type NodeRedis } from '../../support/redis-client.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { useRedis } from '../../support/use-redis.ts'

const db = useRedis()

/** A limiter whose session store is on the same server, under `name`. */
function worldOf(client: NodeRedis, name: string, isSplit = false) {
  const store = redisStore({ client, prefix: `${name}:` })
  if (isSplit) Object.defineProperty(store.sessions, 'admitAtOnce', { value: undefined })
  const prefix = `host-${name}:`
  const held = async (ids: readonly string[]) => (await client.exists(ids.map((id) => prefix + id))) === ids.length
  const hostSessions = {
    prefix,
    exists: (id: string) => held([id]),
    holdsAll: held,
    destroy: async (id: string) => void (await client.del(prefix + id)),
  }
  const world = createLimiterWorld({ store, hostSessions })
  let made = 0
  return {
    ...world,
    prefix,
    /** Logs in, and returns the raw id of the session. */
    async login(userId: string): Promise<string | undefined> {
      const sessionId = `raw-${++made}`
      const admission = await world.limiter.admit({ userId, ip: '192.0.2.1', userAgent: 'Browser' }, async () => {
        await client.set(prefix + sessionId, '{}')
        return { sessionId, ttlMs: 60_000, revert: async () => void (await client.del(prefix + sessionId)) }
      })
      return admission.admitted ? sessionId : undefined
    },
    sessions: async (userId: string) => (await store.sessions.read(userId)).sessions.map(({ sessionId }) => sessionId),
    tokens: async (userId: string) => (await world.limiter.sessions.list(userId)).map(({ token }) => token),
  }
}

/** Returns actions without their times. */
const timeless = (fired: readonly unknown[]) =>
  JSON.parse(
    JSON.stringify(fired)
      .replaceAll(/"(at|createdAt|lastSeenAt|expiresAt|sequence)":\d+/g, '"$1":0')
      .replaceAll(/"sessmgr_logout_all_users",\d+/g, '"sessmgr_logout_all_users"'),
  )

/** How often each command was called since the last reset, also by scripts. */
async function commands(client: NodeRedis): Promise<Record<string, number>> {
  const lines = (await client.info('commandstats')).matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)
  return Object.fromEntries([...lines].map(([, name, count]) => [name, Number(count)]))
}

describe('a login that Redis decides on', () => {
  it('asks once, with the settings, below the maximum and at it', async () => {
    const { client } = db
    const { login, limiter } = worldOf(client, 'a')
    await limiter.settings.update({ maximum: 2, logic: 'logout_oldest' })
    await login('warm')
    for (const expected of [{}, {}, { exists: 1 }]) {
      await client.configResetStat()
      expect(await login('alice')).toBeDefined()
      const { evalsha, hscan, hget, exists } = await commands(client)
      expect({ hscan, hget, exists }).toEqual({ hget: 1, ...expected })
      // At the maximum, another script writes why a session has ended.
      if (!exists) expect(evalsha).toBe(1)
    }
  })

  it('rule 5: is decided as elsewhere, and reported so, whatever comes before', async () => {
    const { client } = db
    const [quick, slow] = [worldOf(client, 'quick'), worldOf(client, 'slow', true)]
    const random = seededRandom(7)
    const among = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
    for (let round = 0; round < 400; round++) {
      const [act, userId] = [random(), among(['alice', 'bob'])]
      const [mode, maximum] = [among(['allow', 'logout_oldest', 'logout_idlest', 'block']), among([1, 2, 4])]
      const [place, wasLost] = [Math.floor(random() * 4), random() < 0.5]
      const results: unknown[] = []
      for (const world of [quick, slow]) {
        const { limiter, login, prefix, sessions, tokens } = world
        if (act < 0.1) await limiter.settings.update({ logic: mode, maximum })
        else if (act < 0.15) await limiter.sessions.logoutAllUsers()
        else if (act < 0.3) {
          const sessionId = (await sessions(userId))[place]
          if (sessionId && wasLost) await client.del(prefix + sessionId)
          const token = (await tokens(userId))[place]
          if (token && !wasLost) await limiter.sessions.end(userId, token)
        } else await login(userId)
        // Later in the same millisecond, a session may have the time of an earlier one.
        results.push([
          await sessions(userId),
          await tokens(userId),
          (await client.keys(`${prefix}*`)).map((key) => key.slice(prefix.length)).toSorted(),
        ])
      }
      expect(results[0], `round ${round}`).toEqual(results[1])
    }
    expect(timeless(quick.fired)).toEqual(timeless(slow.fired))
    expect(quick.fired.length).toBeGreaterThan(150)
  })

  it('rule 5: is never more than the maximum, of many at once on four connections', async () => {
    const { client } = db
    const clients = await Promise.all([1, 2, 3].map(() => connectRedis(db.server.url)))
    onTestFinished(() => {
      for (const one of clients) one.destroy()
    })
    const worlds = [worldOf(client, 'a'), ...clients.map((one) => worldOf(one, 'a'))]
    await worlds[0]?.limiter.settings.update({ maximum: 3, logic: 'logout_oldest' })
    await Promise.all(worlds.map((world, index) => world.login(`warm ${index}`)))
    let isOver = false
    const counts: number[] = []
    const watching = (async () => {
      while (!isOver) counts.push((await worlds[0]?.sessions('alice'))?.length ?? 0)
    })()
    const each = worlds.map((world) => Promise.all(Array.from({ length: 50 }, () => world.login('alice'))))
    expect((await Promise.all(each)).flat().every(Boolean)).toBe(true)
    isOver = true
    await watching
    expect(Math.max(...counts)).toBeLessThanOrEqual(3)
    expect(await worlds[0]?.sessions('alice')).toHaveLength(3)
  })
})
