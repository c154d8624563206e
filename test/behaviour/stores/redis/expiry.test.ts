import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { explicitCalls } from '../../../../src/explicit.ts'
import { sessmgr, tokenOf } from '../../../../src/index.ts'
import { type RedisClient, redisStore } from '../../../../src/redis.ts'
import { RedisClock } from '../../../support/redis-clock.ts'
import { readUser } from '../../../support/redis-rows.ts'
import { useRedis } from '../../../support/use-redis.ts'

const USER = 'alice'
const LONG = 600_000
const SHORT = 60

const db = useRedis()

/** A process that makes explicit calls, over a session store that forgets nothing. */
function startProcess(redis: RedisClient = db.client) {
  const limiter = sessmgr({ store: redisStore({ client: redis }), settings: { maximum: 10 } })
  const calls = explicitCalls(limiter, { exists: () => true, destroy: () => {} })
  const login = (sessionId: string, ttlMs: number) =>
    calls.login({ userId: USER, ip: null, userAgent: null }, async () => ({ sessionId, ttlMs }))
  const isLive = async (sessionId: string) => (await calls.check({ userId: USER, sessionId })).session !== undefined
  const touch = (sessionId: string) => calls.touch({ userId: USER, sessionId, ttlMs: LONG })
  return { limiter, isLive, touch, login }
}

/** A client that counts the scripts and the reads that go through it. */
function counted() {
  const counts = { scripts: 0, reads: 0 }
  const redis: RedisClient = {
    evalSha: (...call) => {
      counts.scripts += 1
      return db.client.evalSha(...call)
    },
    eval: (...call) => db.client.eval(...call),
    get: (key) => {
      counts.reads += 1
      return db.client.get(key)
    },
  }
  return { redis, counts }
}

describe('a session that has expired while another one of its user lives', () => {
  it('is over for every call, in every process, and its record goes with the next change', async () => {
    const [one, two] = [startProcess(), startProcess()]
    await one.login('long', LONG)
    await one.login('short', SHORT)
    await sleep(SHORT + 10)
    for (const { isLive, touch, limiter } of [one, two, startProcess()]) {
      expect([await isLive('short'), await touch('short'), await isLive('short')]).toEqual([false, false, false])
      expect(await limiter.sessions.count(USER)).toBe(1)
      expect((await limiter.sessions.list(USER)).map(({ token }) => token)).toEqual([tokenOf('long')])
      expect(await isLive('long')).toBe(true)
    }
    expect((await readUser(db.client, USER))?.s).toHaveLength(2)
    const { sessions } = redisStore({ client: db.client })
    expect(await sessions.end(USER, [tokenOf('short')])).toEqual([])
    expect(await sessions.touch(USER, tokenOf('long'), LONG)).toBe(true)
    expect((await readUser(db.client, USER))?.s.map(({ i }) => i)).toEqual(['long'])
  })

  it.each([-1, 1])('goes by the clock of the server, not by that of the process, %i hours away', async (hours) => {
    const clock = new RedisClock()
    const now = Date.now
    Date.now = () => now() - hours * 3_600_000
    try {
      if (hours > 0) await clock.pass(hours * 3_600_000)
      const { isLive, login } = startProcess(clock.on(db.client))
      await login('long', LONG)
      await login('short', SHORT)
      await sleep(SHORT + 10)
      expect([await isLive('short'), await isLive('long')]).toEqual([false, true])
    } finally {
      Date.now = now
    }
  })
})

it('the server is asked for its time once by each process, and again for a session that ends within a second', async () => {
  await startProcess().login('a', LONG)
  const { redis, counts } = counted()
  const { isLive, login } = startProcess(redis)
  for (let request = 0; request < 5; request++) expect(await isLive('a')).toBe(true)
  // By the first request, of the user and of the number of site-wide logouts. A third script asks for the settings of
  // the server.
  expect(counts).toEqual({ scripts: 3, reads: 8 })
  await login('b', 900)
  counts.scripts = 0
  await isLive('b')
  expect(counts.scripts).toBe(1)
})
