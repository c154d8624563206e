import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import { sessmgr, tokenOf } from '../../../src/index.ts'
import { type RedisClient, redisStore } from '../../../src/redis.ts'
import { RedisClock } from '../../support/redis-clock.ts'
import { readUser, userKey } from '../../support/redis-rows.ts'
import { useRedis } from '../../support/use-redis.ts'

const USER = 'alice'
const KEY = userKey(USER)
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
function counted(): { redis: RedisClient; counts: { scripts: number; reads: number } } {
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
  it('is over for every call, in every process', async () => {
    const [one, two] = [startProcess(), startProcess()]
    await one.login('long', LONG)
    await one.login('short', SHORT)
    await sleep(SHORT + 10)
    for (const { isLive, touch, limiter } of [one, two, startProcess()]) {
      expect(await isLive('short')).toBe(false)
      expect(await touch('short')).toBe(false)
      expect(await isLive('short')).toBe(false)
      expect(await limiter.sessions.count(USER)).toBe(1)
      expect((await limiter.sessions.list(USER)).map(({ token }) => token)).toEqual([tokenOf('long')])
      expect(await isLive('long')).toBe(true)
    }
  })

  it('leaves its record with the next call that changes the sessions of its user', async () => {
    const { login } = startProcess()
    await login('long', LONG)
    await login('short', SHORT)
    expect((await readUser(db.client, USER))?.s).toHaveLength(2)
    await sleep(SHORT + 10)
    const { sessions } = redisStore({ client: db.client })
    expect(await sessions.end(USER, [tokenOf('short')])).toEqual([])
    expect(await sessions.touch(USER, tokenOf('long'), LONG)).toBe(true)
    expect((await readUser(db.client, USER))?.s.map(({ i }) => i)).toEqual(['long'])
  })
})

describe('whether a session has expired', () => {
  it('is asked of the server once, by a process that does not know its clock, and not by each request', async () => {
    await startProcess().login('a', LONG)
    const { redis, counts } = counted()
    const { isLive } = startProcess(redis)
    for (let request = 0; request < 5; request++) expect(await isLive('a')).toBe(true)
    // By the first request, of the user and of the number of site-wide logouts. A third script asks for the settings of
    // the server.
    expect(counts).toEqual({ scripts: 3, reads: 8 })
  })

  it('is asked of the server when the session has less than a second left', async () => {
    const { redis, counts } = counted()
    const { isLive, login } = startProcess(redis)
    await login('a', 900)
    counts.scripts = 0
    await isLive('a')
    expect(counts.scripts).toBe(1)
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
      expect(await isLive('short')).toBe(false)
      expect(await isLive('long')).toBe(true)
    } finally {
      Date.now = now
    }
  })
})

describe('the use of a session', () => {
  const store = () => redisStore({ client: db.client })
  const recordOf = async () => (await store().sessions.read(USER)).sessions[0]?.record

  it('is not written again while what is stored is fresh enough', async () => {
    const { login } = startProcess()
    await login('a', LONG)
    const before = await db.client.get(KEY)
    await sleep(5)
    expect(await store().sessions.touch(USER, tokenOf('a'), LONG, 30_000)).toBe(true)
    expect(await db.client.get(KEY)).toBe(before)
  })

  it.each([
    ['nothing may be behind', LONG, undefined],
    ['it was noted too long ago', LONG, 5],
    ['its life is another', 2 * LONG, 30_000],
    ['its life is shorter', LONG / 2, 30_000],
  ])('is written when %s', async (_, ttlMs, freshMs) => {
    const { login } = startProcess()
    await login('a', LONG)
    const before = await recordOf()
    await sleep(10)
    expect(await store().sessions.touch(USER, tokenOf('a'), ttlMs, freshMs)).toBe(true)
    const after = await recordOf()
    expect(after?.lastSeenAt).toBeGreaterThan(before?.lastSeenAt ?? 0)
    expect(after?.expiresAt).toBe((after?.lastSeenAt ?? 0) + ttlMs)
  })

  it('does not bring a session back that has ended, however fresh', async () => {
    const { login, limiter } = startProcess()
    await login('a', LONG)
    await limiter.sessions.endAll(USER)
    expect(await store().sessions.touch(USER, tokenOf('a'), LONG, 30_000)).toBe(false)
  })
})

describe('the sessions that ended a short while ago', () => {
  it('are at most thirty-two, however many end, and are adopted no more', async () => {
    const { sessions } = redisStore({ client: db.client })
    const record = (sessionId: string) => ({
      sessionId,
      ttlMs: LONG,
      ip: null,
      userAgent: null,
      device: null,
      generation: 0,
    })
    const commit = async (sessionId: string, ended: string[]) => {
      const read = await sessions.read(USER)
      return sessions.commit(USER, read, { admit: record(sessionId), end: ended.map(tokenOf) })
    }
    await commit('s0', [])
    for (let number = 1; number <= 60; number++) {
      expect(await commit(`s${number}`, [`s${number - 1}`])).toMatchObject({ committed: true })
      expect((await readUser(db.client, USER))?.e?.split(',')).toHaveLength(Math.min(number, 32))
    }
    for (let number = 28; number < 60; number++)
      expect(await sessions.adopt(USER, record(`s${number}`))).toBeUndefined()
    // It logs in again: then it has not ended.
    await commit('s59', [])
    expect((await readUser(db.client, USER))?.e).not.toContain(
      Buffer.from(tokenOf('s59').slice(0, 16), 'hex').toString('base64url'),
    )
  })
})
