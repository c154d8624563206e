import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import { memoryStore, sessmgr } from '../../../src/index.ts'
import { type TokenClaims, tokenSessions } from '../../../src/jwt.ts'
import { redisStore } from '../../../src/redis.ts'
import { fakeClock } from '../../../src/testing.ts'
import { deferred } from '../../support/deferred.ts'
import { MemoryRows } from '../../support/memory-driver.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { useRedis } from '../../support/use-redis.ts'

const GRACE = 30_000
const sign = (claims: TokenClaims) => claims
const realNow = performance.now.bind(performance)

async function loginOf(tokens: ReturnType<typeof tokenSessions>, userId = 'ada'): Promise<TokenClaims> {
  const admission = await tokens.login({ userId }, sign)
  if (!admission.admitted) throw new Error(admission.message)
  return admission.tokens
}

describe('someone with stolen refresh tokens', () => {
  it('gets what the rules allow, in any order of replays, delays and clocks', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = seededRandom(seed)
      const clock = fakeClock()
      const limiter = sessmgr({ store: memoryStore({ clock }), settings: { maximum: 2 } })
      const tokens = tokenSessions(limiter)
      const held = [await loginOf(tokens)]
      const other = await loginOf(tokens)
      let isOver = false
      // When each token was used first, by its number.
      const used: number[] = []
      for (let step = 0; step < 40; step++) {
        clock.advance(Math.floor(random() ** 3 * 2 * GRACE))
        // Anyone presents any token that was ever signed, mostly one of the last.
        const claims = held[Math.max(0, held.length - 1 - Math.floor(random() ** 2 * held.length))] as TokenClaims
        const isCurrent = claims.rot === used.length
        const age = clock.now() - (used[claims.rot] ?? 0)
        const mustRepeat = !isCurrent && age < (claims.rot === used.length - 1 ? GRACE : GRACE / 2)
        const refreshed = await tokens.refresh(claims, sign)
        if (!isOver && isCurrent) used.push(clock.now())
        if (!isCurrent && !mustRepeat) isOver ||= age >= GRACE || !refreshed.live
        expect(refreshed.live, `seed ${seed}, step ${step}`).toBe(!isOver)
        if (refreshed.live) {
          expect([refreshed.tokens.rot, refreshed.repeated]).toEqual([used.length, !isCurrent])
          held.push(refreshed.tokens)
        } else expect(refreshed.ended.cause?.kind).toBe('reused')
        expect((await tokens.check(claims)).session === undefined).toBe(isOver)
      }
      expect((await tokens.check(other)).session).toBeDefined()
      await limiter.close()
    }
  })

  it('cannot use the tokens of one session with another, or with another user', async () => {
    const limiter = sessmgr({ settings: { maximum: 5 } })
    onTestFinished(() => limiter.close())
    const tokens = tokenSessions(limiter, { graceMs: 0 })
    const [own, second, victim] = [await loginOf(tokens), await loginOf(tokens), await loginOf(tokens, 'bob')]
    const mixed = [
      { ...own, sid: victim.sid },
      { ...victim, sub: own.sub },
    ]
    for (const claims of mixed) {
      expect(await tokens.refresh(claims, sign)).toMatchObject({ live: false })
      expect(await tokens.check(claims)).toMatchObject({ ended: { reason: 'ended' } })
      await tokens.logout(claims)
    }
    for (const claims of [own, second, victim]) expect((await tokens.check(claims)).session).toBeDefined()
    expect(await tokens.refresh(victim, sign)).toMatchObject({ live: true, tokens: { rot: 1 } })
  })
})

describe('a store that is slow', () => {
  it('rejects a rotation that times out, and repeats the answer if it was made after all', async () => {
    const driver = new MemoryRows().driver()
    const limiter = sessmgr({ store: documentStore(driver, { deadlineMs: 50 }), logger: { warn() {}, error() {} } })
    onTestFinished(() => limiter.close())
    const tokens = tokenSessions(limiter)
    const own = await loginOf(tokens)
    const { swap } = driver
    const late = deferred()
    driver.swap = async (...given) => {
      await late.promise
      return swap.apply(driver, given)
    }
    await expect(tokens.refresh(own, sign)).rejects.toMatchObject({ code: 'store_unavailable', status: 503 })
    driver.swap = swap
    late.resolve()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await tokens.refresh(own, sign)).toMatchObject({ live: true, repeated: true, tokens: { rot: 1 } })
  })
})

/** Moves the store's clock and this process's timer, so that a slow machine does not use up a grace period. */
function movedTime() {
  const clock = fakeClock()
  let ahead = 0
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => realNow() + ahead)
  onTestFinished(() => spy.mockRestore())
  const pass = (ms: number) => {
    clock.advance(ms)
    ahead += ms
  }
  return { clock, pass }
}

describe('a store that is away for longer than the grace period', () => {
  /** Two processes; the replies to the first never arrive, although its changes are made. */
  async function cutOff() {
    const { clock, pass } = movedTime()
    const rows = new MemoryRows(clock)
    const driver = rows.driver()
    const logger = { warn() {}, error() {} }
    const limiters = [driver, rows.driver()].map((one) =>
      sessmgr({ store: documentStore(one, { deadlineMs: 50 }), logger }),
    )
    onTestFinished(async () => void (await Promise.all(limiters.map((one) => one.close()))))
    const [own, other] = limiters.map((one) => tokenSessions(one)) as [
      ReturnType<typeof tokenSessions>,
      ReturnType<typeof tokenSessions>,
    ]
    const claims = await loginOf(own)
    const { get, swap } = driver
    const cut = () => Promise.reject(new Error('cut off'))
    driver.swap = async (...given) => {
      await swap.apply(driver, given)
      driver.get = cut
      return cut()
    }
    await expect(own.refresh(claims, sign)).rejects.toMatchObject({ code: 'store_unavailable' })
    const isBack = () => Object.assign(driver, { get, swap })
    return { own, other, claims, isBack, pass }
  }

  it('signs nobody out who repeats the refresh, and tolerates the token no longer than that', async () => {
    const { own, claims, isBack, pass } = await cutOff()
    for (let round = 0; round < 6; round++) {
      pass(GRACE / 2)
      await expect(own.refresh(claims, sign)).rejects.toMatchObject({ code: 'store_unavailable' })
    }
    isBack()
    expect(await own.refresh(claims, sign)).toMatchObject({ live: true, repeated: true, tokens: { rot: 1 } })
    expect(await own.refresh(claims, sign)).toMatchObject({ live: false, ended: { cause: { kind: 'reused' } } })
  })

  it('is no excuse for a client that has not repeated it, or that nobody has seen', async () => {
    for (const who of ['own', 'other'] as const) {
      const it = await cutOff()
      it.pass(GRACE + 1000)
      it.isBack()
      expect(await it[who].refresh(it.claims, sign)).toMatchObject({
        live: false,
        ended: { cause: { kind: 'reused' } },
      })
    }
  })

  it('is no excuse for a token that was replaced before', async () => {
    const { clock, pass } = movedTime()
    const limiter = sessmgr({ store: memoryStore({ clock }), logger: { warn() {}, error() {} } })
    onTestFinished(() => limiter.close())
    const tokens = tokenSessions(limiter)
    const stolen = await loginOf(tokens)
    const honest = await tokens.refresh(stolen, sign)
    pass(GRACE)
    const failing = () => Promise.reject(new Error('no key'))
    await expect(tokens.refresh(honest.live ? honest.tokens : {}, failing)).rejects.toThrow('no key')
    expect(await tokens.refresh(stolen, sign)).toMatchObject({ live: false, ended: { cause: { kind: 'reused' } } })
  })
})

describe('the calls of a store', () => {
  const db = useRedis()

  it('are three round trips for a refresh and one for a check in Redis', async () => {
    let sent = 0
    const counting: typeof db.client = new Proxy(db.client, {
      get(client, name) {
        if (name === 'withCommandOptions') return () => counting
        const member = Reflect.get(client, name)
        if (typeof member !== 'function') return member
        return (...given: unknown[]) => {
          if (/^(evalSha|eval|get|sendCommand)$/i.test(String(name))) sent += 1
          return member.apply(client, given)
        }
      },
    })
    const limiter = sessmgr({ store: redisStore({ client: counting }) })
    const tokens = tokenSessions(limiter)
    let own = await loginOf(tokens)
    for (let round = 0; round < 3; round++) {
      const refreshed = await tokens.refresh(own, sign)
      if (refreshed.live) own = refreshed.tokens
    }
    sent = 0
    await tokens.check(own)
    // The session and the number of site-wide logouts, in one turn of the event loop.
    expect(sent).toBe(2)
    sent = 0
    await tokens.refresh(own, sign)
    // The same, and then the session again, with the time, and the write.
    expect(sent).toBe(4)
  })

  it('are a read, a write and a read for a refresh in a database, and one read for a check', async () => {
    const driver = new MemoryRows().driver()
    const calls: string[] = []
    for (const name of ['get', 'swap'] as const) {
      const call = driver[name] as (...given: unknown[]) => Promise<never>
      Object.assign(driver, {
        [name]: (...given: unknown[]) => {
          calls.push(name)
          return call.apply(driver, given)
        },
      })
    }
    const tokens = tokenSessions(sessmgr({ store: documentStore(driver) }))
    const own = await loginOf(tokens)
    calls.length = 0
    await tokens.check(own)
    expect(calls).toEqual(['get'])
    calls.length = 0
    await tokens.refresh(own, sign)
    expect(calls).toEqual(['get', 'swap', 'get'])
    calls.length = 0
    await tokens.refresh(own, sign)
    expect(calls).toEqual(['get', 'get'])
  })
})
