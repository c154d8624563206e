import { describe, expect, it } from 'vitest'
import type { LimitReport } from '../../../../src/hooks/session-hooks.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../../src/stores/memory-store.ts'
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
  it.each(MODES)(
    'reports what an enforced one does, and leaves the registry as without a limit, in mode %s',
    async (logic) => {
      const random = seededRandom(7)
      const maximum = 3
      const store = memoryStore()
      const world = createLimiterWorld({ store, settings: { maximum, logic, enforce: false } })
      const unlimited = createLimiterWorld({ settings: { maximum: 1000, logic } })
      const reports = reportsOf(world)
      let reported = 0
      for (let count = 0; count < rounds(40); count++) {
        const [live, canAsk] = [await world.live(7), random() < 0.5]
        const expected = await enforced(logic, maximum, live, canAsk)
        const made = [await world.login(7, { canAsk }), await unlimited.login(7, { canAsk })]
        expect(made[0]).toBeDefined()
        expect(made[0]).toBe(made[1])
        expect(reports.splice(0)).toEqual(expected)
        reported += expected.length
        const left = [...live, made[0]].filter(() => random() < 0.3)
        for (const id of left)
          for (const { limiter } of [world, unlimited]) await limiter.sessions.end(7, tokenOf(String(id)))
        expect(await world.live(7)).toEqual(await unlimited.live(7))
      }
      expect(reported).toBeGreaterThan(rounds(10))
      expect(reported).toBeLessThan(rounds(40))
      expect([...world.host.ids]).toEqual([...unlimited.host.ids])
      expect((await store.sessions.read(7)).sessions).toHaveLength(world.host.ids.size)
    },
  )

  it('fires none of the actions of the mode', async () => {
    for (const logic of MODES) {
      const world = createLimiterWorld({ settings: { maximum: 1, logic, enforce: false } })
      const refused: unknown[] = []
      world.limiter.hooks.addAction('sessmgr_login_refused', 'test', () => void refused.push(logic))
      await world.login(7)
      await world.login(7)
      await world.limiter.close()
      expect(world.fired.map(([name]) => name)).toEqual(['sessmgr_would_limit'])
      expect([refused, world.logged]).toEqual([[], []])
    }
  })

  it('still replaces, ends by hand and logs everybody out', async () => {
    const world = createLimiterWorld({ settings: { maximum: 1, logic: 'block', enforce: false } })
    const first = await world.login(7)
    const next = await world.login(7, { replaces: first })
    expect(await world.live(7)).toEqual([next])
    await world.login(7)
    expect(await world.limiter.sessions.endAll(7)).toBe(2)
    await world.login(7)
    await world.limiter.sessions.logoutAllUsers()
    expect(await world.live(7)).toEqual([])
  })

  it('reports nothing where the mode would change nothing, nor of an exempt user', async () => {
    const world = createLimiterWorld({ settings: { maximum: 1, logic: 'allow', enforce: false } })
    const reports = reportsOf(world)
    const off = world.limiter.hooks.addFilter('sessmgr_reached_limit', 'test', () => true)
    await world.login(7)
    off()
    world.limiter.hooks.addFilter('sessmgr_bypass', 'test', () => true)
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
    await world.login(7)
    await world.login(8)
    expect(asked).toEqual([])
    expect(await world.login(7)).toBeUndefined()
    expect(await world.login(8)).toBeDefined()
    expect(asked).toEqual([
      [false, 7],
      [false, 8],
    ])
    await world.limiter.settings.update({ enforce: true })
    expect(await world.login(8)).toBeDefined()
    expect(asked.at(-1)).toEqual([true, 8])
  })

  it.each<[string, () => unknown]>([
    ['throws', () => Promise.reject(new Error('broken'))],
    ['returns no boolean', () => 0],
    ['returns nothing', () => undefined],
  ])('leaves the limit enforced when it %s, and the log says so', async (_, answer) => {
    const world = createLimiterWorld({ settings: { maximum: 1, logic: 'block', enforce: false } })
    await world.login(7)
    world.limiter.hooks.addFilter('sessmgr_enforce', 'test', answer as () => boolean)
    expect(await world.login(7)).toBeUndefined()
    expect(world.logged).toEqual([[expect.stringContaining('"sessmgr_enforce"'), { code: 'hook_failed' }]])
  })
})
