import { expect, it, onTestFinished } from 'vitest'
import { redisStore } from '../../../src/redis.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'
import { connectRedis, type NodeRedis } from '../../support/redis-client.ts'
import { useRedis } from '../../support/use-redis.ts'

const db = useRedis()
let made = 0

/** A limiter whose session store is on the same server. */
function worldOf(client: NodeRedis) {
  const store = redisStore({ client })
  const keyOf = (id: string) => `sess:${id}`
  const holdsAll = async (ids: readonly string[]) => (await client.exists(ids.map(keyOf))) === ids.length
  const hostSessions = {
    exists: (id: string) => holdsAll([id]),
    holdsAll,
    destroy: async (id: string) => void (await client.del(keyOf(id))),
  }
  const world = createLimiterWorld({ store, hostSessions })
  return {
    ...world,
    /** Logs in, and returns the raw id of the session. */
    async login(userId: string): Promise<string | undefined> {
      const sessionId = `raw-${++made}`
      const admission = await world.limiter.admit({ userId, ip: '192.0.2.1', userAgent: 'Browser' }, async () => {
        await client.set(keyOf(sessionId), '{}')
        return { sessionId, ttlMs: 60_000, revert: async () => void (await client.del(keyOf(sessionId))) }
      })
      return admission.admitted ? sessionId : undefined
    },
    sessions: async (userId: string) => (await store.sessions.read(userId)).sessions.map(({ sessionId }) => sessionId),
  }
}

it('rule 5: of many logins at once on four connections, never more than the maximum are live', async () => {
  const { client } = db
  const clients = await Promise.all([1, 2, 3].map(() => connectRedis(db.server.url)))
  onTestFinished(() => {
    for (const one of clients) one.destroy()
  })
  const worlds = [worldOf(client), ...clients.map((one) => worldOf(one))]
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
