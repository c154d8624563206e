import { describe, expect, it } from 'vitest'
import type { LimitReport } from '../../../../src/hooks/session-hooks.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { createLimiterWorld, type LimiterWorld } from '../../../support/limiter-world.ts'
import { rounds } from '../../../support/rounds.ts'
import { seededRandom } from '../../../support/seeded-random.ts'

const MODES = ['allow', 'logout_oldest', 'logout_idlest', 'block', 'ask']

function reportsOf({ limiter }: LimiterWorld): LimitReport[] {
  const reports: LimitReport[] = []
  limiter.hooks.addAction('sessmgr_would_limit', 'test', (_, report) => void reports.push(report))
  return reports
}

/** What an enforced limit does to a login of a user with these sessions, in the words of a report. */
async function enforced(logic: string, maximum: number, ids: readonly string[], canAsk: boolean) {
  const { limiter, host } = createLimiterWorld({ settings: { maximum: 1000, logic } })
  for (const id of ids) await limiter.admit({ userId: 7 }, async () => host.establish(60_000, id))
  await limiter.settings.update({ maximum })
  const { admitted, ...rest } = await limiter.admit({ userId: 7, canAsk }, async () => host.establish(60_000, 'new'))
  const tokens = ids.filter((id) => !host.ids.has(id)).map(tokenOf)
  if (admitted && tokens.length === 0) return []
  const would = admitted ? 'end' : 'choice' in rest ? 'ask' : 'refuse'
  return [{ mode: logic, maximum, live: ids.length, would, tokens }]
}

describe('a limit that is not enforced', () => {
  it('reports in each mode what an enforced one does, changes nothing, and fires nothing else', async () => {
    for (const logic of MODES) {
      const random = seededRandom(7)
      const world = createLimiterWorld({ settings: { maximum: 3, logic, enforce: false } })
      const reports = reportsOf(world)
      const refused: unknown[] = []
      world.limiter.hooks.addAction('sessmgr_login_refused', 'test', () => void refused.push(logic))
      let reported = 0
      for (let count = 0; count < rounds(20); count++) {
        const [live, canAsk] = [await world.live(7), random() < 0.5]
        const expected = await enforced(logic, 3, live, canAsk)
        const id = await world.login(7, { canAsk })
        expect(await world.live(7), logic).toEqual([...live, id])
        expect(reports.splice(0), logic).toEqual(expected)
        reported += expected.length
        for (const each of [...live, id].filter(() => random() < 0.3)) {
          await world.limiter.sessions.end(7, tokenOf(String(each)))
        }
      }
      expect(reported).toBeGreaterThan(rounds(4))
      expect([refused, world.logged]).toEqual([[], []])
      const names = new Set(world.fired.map(([name]) => name))
      expect([...names].sort()).toEqual(['sessmgr_destroy_session', 'sessmgr_would_limit'])
    }
  })

  it('still replaces, and reports nothing where the mode would change nothing, nor of an exempt user', async () => {
    const world = createLimiterWorld({ settings: { maximum: 1, logic: 'allow', enforce: false } })
    const reports = reportsOf(world)
    const { hooks } = world.limiter
    const off = hooks.addFilter('sessmgr_reached_limit', 'test', () => true)
    const first = await world.login(7)
    off()
    const next = await world.login(7, { replaces: first })
    expect(await world.live(7)).toEqual([next])
    hooks.addFilter('sessmgr_bypass', 'test', () => true)
    await world.login(7)
    await world.limiter.close()
    expect(reports).toEqual([])
  })
})

describe('the filter sessmgr_enforce', () => {
  it('gets the setting and the user at the limit, and decides', async () => {
    const world = createLimiterWorld({ settings: { maximum: 1, logic: 'block', enforce: false } })
    const asked: unknown[] = []
    world.limiter.hooks.addFilter('sessmgr_enforce', 'test', (enforce, userId) => {
      asked.push([enforce, userId])
      return userId === 7
    })
    for (const user of [7, 8]) await world.login(user)
    expect(asked).toEqual([])
    expect([await world.login(7), await world.login(8)]).toEqual([undefined, expect.any(String)])
    await world.limiter.settings.update({ enforce: true })
    expect(await world.login(8)).toBeDefined()
    expect(asked).toEqual([
      [false, 7],
      [false, 8],
      [true, 8],
    ])
  })

  it('leaves the limit enforced when it fails or returns no boolean, and the log says so', async () => {
    for (const answer of [() => Promise.reject(new Error('broken')), () => 0, () => undefined]) {
      const world = createLimiterWorld({ settings: { maximum: 1, logic: 'block', enforce: false } })
      await world.login(7)
      world.limiter.hooks.addFilter('sessmgr_enforce', 'test', answer as never)
      expect(await world.login(7)).toBeUndefined()
      expect(world.logged).toEqual([[expect.stringContaining('"sessmgr_enforce"'), { code: 'hook_failed' }]])
    }
  })
})
