import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { createLimiterWorld } from '../../../support/limiter-world.ts'
import { rounds } from '../../../support/rounds.ts'
import { seededRandom } from '../../../support/seeded-random.ts'

const IDLE_MS = 600_000
const LIFE_MS = 86_400_000
const BLOCK = { settings: { maximum: 1, logic: 'block', idle_release: IDLE_MS / 1000 } }

describe('an unused session', () => {
  it('rule 67: keeps its slot until the idle time is over, to the millisecond, and is told why it ended', async () => {
    for (const logic of ['block', 'ask']) {
      // The clock of the store alone counts.
      const clock = fakeClock(Date.now() - 3_600_000)
      const { limiter, fired, login, live } = createLimiterWorld({ settings: { ...BLOCK.settings, logic }, clock })
      const ended: unknown[] = []
      limiter.hooks.addAction('sessmgr_session_ended', 'test', ({ token }, end) => void ended.push([token, end.kind]))
      const old = await login(7, {}, LIFE_MS)
      const [{ token } = { token: '' }] = await limiter.sessions.list(7)
      clock.advance(IDLE_MS - 1)
      expect(await login(7)).toBeUndefined()
      await limiter.touch(7, token, LIFE_MS)
      clock.advance(IDLE_MS - 1)
      expect([await login(7), await live(7)], 'since its last use').toEqual([undefined, [old]])
      clock.advance(1)
      const next = await login(7)
      expect([next, await live(7)]).toEqual([expect.any(String), [next]])
      expect(ended).toEqual([[token, 'idle']])
      expect(await limiter.causeOf(token, 'ended')).toMatchObject({ kind: 'idle' })
      const blocked = ['sessmgr_login_blocked', 7]
      expect(fired, logic).toEqual([blocked, blocked, ['sessmgr_destroy_session', 7, token]])
    }
  })

  it('is at least three updates of the last use old, and keeps its slot without the setting', async () => {
    const { clock, login } = createLimiterWorld({ ...BLOCK, touchEveryMs: IDLE_MS })
    await login(7, {}, LIFE_MS)
    clock.advance(3 * IDLE_MS - 1)
    expect(await login(7)).toBeUndefined()
    clock.advance(1)
    expect(await login(7)).toBeDefined()
    const without = createLimiterWorld({ settings: { logic: 'block' } })
    await without.login(7, {}, LIFE_MS)
    without.clock.advance(LIFE_MS - 1)
    expect(await without.login(7)).toBeUndefined()
  })
})

describe('one unused session', () => {
  it('is either used or ended when both happen at once', async () => {
    const { limiter, login, live, clock } = createLimiterWorld(BLOCK)
    const random = seededRandom(19)
    const counts = { used: 0, ended: 0 }
    for (let user = 1; user <= rounds(60); user++) {
      const old = await login(user, {}, LIFE_MS)
      const [{ token } = { token: '' }] = await limiter.sessions.list(user)
      clock.advance(IDLE_MS)
      const ending = login(user, {}, LIFE_MS)
      for (let turns = Math.floor(random() * 30); turns > 0; turns--) await undefined
      const isUsed = await limiter.touch(user, token, LIFE_MS)
      const next = await ending
      expect(next === undefined).toBe(isUsed)
      expect(await live(user)).toEqual([isUsed ? old : next])
      counts[isUsed ? 'used' : 'ended'] += 1
    }
    expect(Math.min(counts.used, counts.ended), JSON.stringify(counts)).toBeGreaterThan(rounds(6))
  })
})
