import { describe, expect, it, vi } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import type { TokenClaims } from '../../../src/jwt.ts'
import { fakeClock } from '../../../src/testing.ts'
import { MemoryRows } from '../../support/memory-driver.ts'
import { passingTime } from '../../support/passing-time.ts'
import { rounds } from '../../support/rounds.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { GRACE, REUSED, sign, startTokens } from './token-world.ts'

const AWAY = { code: 'store_unavailable', status: 503 }

describe('someone with stolen refresh tokens', () => {
  it('gets what the rules allow, in any order of replays, delays and clocks', async () => {
    for (let seed = 1; seed <= rounds(12); seed++) {
      const random = seededRandom(seed)
      const { clock, tokens, login } = startTokens()
      const held = [await login()]
      const other = await login()
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
    }
  })

  it('cannot use the tokens of one session with another, or with another user', async () => {
    const { tokens, login, isLive } = startTokens({ tokens: { graceMs: 0 } })
    const [own, second, victim] = [await login(), await login(), await login('bob')]
    for (const claims of [
      { ...own, sid: victim.sid },
      { ...victim, sub: own.sub },
    ]) {
      expect(await tokens.refresh(claims, sign)).toMatchObject({ live: false })
      expect(await tokens.check(claims)).toMatchObject({ ended: { reason: 'ended' } })
      await tokens.logout(claims)
    }
    for (const claims of [own, second, victim]) expect(await isLive(claims)).toBe(true)
    expect(await tokens.refresh(victim, sign)).toMatchObject({ live: true, tokens: { rot: 1 } })
  })
})

describe('a store that is away', () => {
  /** Moves the store's clock and this process's timer, so that a slow machine does not use up a grace period. */
  function movedTime(clock = fakeClock()) {
    const passHere = passingTime()
    const pass = (ms: number) => {
      clock.advance(ms)
      passHere(ms)
    }
    return { clock, pass }
  }

  /** Two processes; the replies to the first never arrive, although its changes are made. */
  async function cutOff() {
    const { clock, pass } = movedTime()
    const rows = new MemoryRows(clock)
    const driver = rows.driver()
    const open = (one: typeof driver) => startTokens({ store: documentStore(one, { deadlineMs: 500 }) })
    const [own, { tokens: other }] = [open(driver), open(rows.driver())]
    const claims = await own.login()
    const { get, swap } = driver
    const cut = () => Promise.reject(new Error('cut off'))
    driver.swap = async (...given) => {
      await swap.apply(driver, given)
      driver.get = cut
      return cut()
    }
    await expect(own.tokens.refresh(claims, sign)).rejects.toMatchObject(AWAY)
    const isBack = () => Object.assign(driver, { get, swap })
    return { own: own.tokens, other, claims, isBack, pass }
  }

  it('signs nobody out who repeats the refresh, and tolerates the token no longer than that', async () => {
    const { own, claims, isBack, pass } = await cutOff()
    for (let round = 0; round < 6; round++) {
      pass(GRACE / 2)
      await expect(own.refresh(claims, sign)).rejects.toMatchObject(AWAY)
    }
    isBack()
    expect(await own.refresh(claims, sign)).toMatchObject({ live: true, repeated: true, tokens: { rot: 1 } })
    expect(await own.refresh(claims, sign)).toMatchObject(REUSED)
  })

  it('for longer than the grace period excuses no client that has not repeated it, or that nobody has seen', async () => {
    for (const who of ['own', 'other'] as const) {
      const it = await cutOff()
      it.pass(GRACE + 1000)
      it.isBack()
      expect(await it[who].refresh(it.claims, sign), who).toMatchObject(REUSED)
    }
  })

  it('excuses no token that was replaced before', async () => {
    const { clock, tokens, login, refresh } = startTokens()
    const { pass } = movedTime(clock)
    const stolen = await login()
    const honest = await refresh(stolen)
    pass(GRACE)
    await expect(tokens.refresh(honest, () => Promise.reject(new Error('no key')))).rejects.toThrow('no key')
    expect(await tokens.refresh(stolen, sign)).toMatchObject(REUSED)
  })
})

it('a check reads a database once, and a refresh twice, with one write unless it is repeated; settings once a second', async () => {
  const driver = new MemoryRows().driver()
  const { tokens, login } = startTokens({ store: documentStore(driver) })
  const own = await login()
  const [get, swap] = [vi.spyOn(driver, 'get'), vi.spyOn(driver, 'swap')]
  const calls = () => [get.mock.calls.length, swap.mock.calls.length]
  await tokens.check(own)
  expect(calls()).toEqual([1, 0])
  await tokens.refresh(own, sign)
  expect(calls()).toEqual([4, 1])
  await tokens.refresh(own, sign)
  expect(calls()).toEqual([6, 1])
})
