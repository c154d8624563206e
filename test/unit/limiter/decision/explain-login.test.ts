import { describe, expect, it } from 'vitest'
import type { ExplainOptions, LimitExplanation } from '../../../../src/limiter/decision/explain-login.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { createLimiterWorld } from '../../../support/limiter-world.ts'
import { seededRandom } from '../../../support/seeded-random.ts'
import { AGENTS } from '../../../support/user-agents.ts'

const MODES = ['allow', 'logout_oldest', 'logout_idlest', 'block', 'ask']
const DAY = 86_400_000

const endingIn = ({ live }: LimitExplanation) => live.flatMap(({ token, wouldEnd }) => (wouldEnd ? token : []))

describe('an explanation', () => {
  it('predicts the next login, whatever has been before', async () => {
    const random = seededRandom(19)
    const below = (count: number) => Math.floor(random() * count)
    const { limiter, clock, host } = createLimiterWorld({ settings: { idle_release: 300 } })
    const tokens = async () => (await limiter.sessions.list(7)).map(({ token }) => token)
    const seen = new Set<string>()
    for (let round = 0; round < 100; round++) {
      const known = [...host.ids]
      const one = known[below(known.length)] ?? 'none'
      if (random() < 0.5) await limiter.touch(7, tokenOf(one), DAY)
      else if (random() < 0.3) host.ids.delete(one)
      clock.advance(below(3) * 200_000)
      const logic = MODES[below(MODES.length)] ?? ''
      await limiter.settings.update({ logic, maximum: 1 + below(3), enforce: random() < 0.8 })
      const live = await tokens()
      const { nextLogin, need, enforced, ...explanation } = await limiter.explain(7)
      expect(explanation.live.map(({ token }) => token)).toEqual(live)

      const attempt = { userId: 7, canAsk: true }
      const admission = await limiter.admit(attempt, async () => host.establish(DAY, `login ${round}`))
      const left = await tokens()
      const ended = live.filter((token) => !left.includes(token))
      seen.add(nextLogin)
      if (!enforced) expect([admission.admitted, ended]).toEqual([true, []])
      else if (!admission.admitted) {
        expect([nextLogin, need]).toEqual(admission.choice ? ['asked', admission.choice.need] : ['refused', undefined])
        expect(ended).toEqual([])
      } else {
        expect(nextLogin).toBe(ended.length > 0 ? 'ends' : 'admitted')
        expect(endingIn({ ...explanation, nextLogin, enforced })).toEqual(ended)
      }
    }
    expect([...seen].sort()).toEqual(['admitted', 'asked', 'ends', 'refused'])
  })

  it('names the sessions by device, says which are idle, and fires nothing', async () => {
    const settings = { maximum: 2, logic: 'block', idle_release: 300 }
    const { limiter, login, clock, fired, logged } = createLimiterWorld({ settings })
    const at = clock.now()
    const first = tokenOf(String(await login(7, { userAgent: AGENTS.windows }, DAY)))
    clock.advance(300_000)
    const second = tokenOf(String(await login(7, {}, DAY)))
    const times = { createdAt: at + 300_000, lastSeenAt: at + 300_000 }
    const all = { expiresAt: expect.any(Number), counts: true }
    for (const mode of MODES) await limiter.explain(7, { mode, maximum: 1 })
    expect([fired, logged]).toEqual([[], []])
    expect(await limiter.explain(7)).toEqual({
      maximum: 2,
      from: 'settings',
      bypassed: false,
      enforced: true,
      mode: 'block',
      maxAge: 0,
      nextLogin: 'ends',
      live: [
        {
          token: first,
          device: 'Chrome on Windows',
          createdAt: at,
          lastSeenAt: at,
          ...all,
          idle: true,
          wouldEnd: true,
        },
        { token: second, device: null, ...times, ...all, idle: false, wouldEnd: false },
      ],
    })
  })

  it('says where the maximum comes from, and who is exempt', async () => {
    const { limiter, login } = createLimiterWorld({ settings: { maximum: 2, logic: 'block', enforce: false } })
    await login(7)
    await login(7)
    const told = async (options?: ExplainOptions) => {
      const { maximum, from, bypassed, enforced, nextLogin, live } = await limiter.explain(7, options)
      return [maximum, from, bypassed, enforced, nextLogin, live.length]
    }
    expect(await told()).toEqual([2, 'settings', false, false, 'refused', 2])
    expect(await told({ maximum: 3 })).toEqual([3, 'options', false, false, 'admitted', 2])
    limiter.hooks.addFilter('sessmgr_maximum', 'test', () => 5)
    expect(await told()).toEqual([5, 'filter', false, false, 'admitted', 2])
    limiter.hooks.addFilter('sessmgr_enforce', 'test', () => true)
    limiter.hooks.addFilter('sessmgr_bypass', 'test', () => true)
    expect(await told()).toEqual([5, 'filter', true, true, 'admitted', 2])
  })

  it('tells of labels, for the login of a user agent', async () => {
    const labels = { limits: { desktop: 1, mobile: 3 }, deadlineMs: 60_000 }
    const { limiter, login } = createLimiterWorld({ labels, settings: { maximum: 5, logic: 'block' } })
    await login(7, { userAgent: AGENTS.windows })
    await login(7)
    const desktop = await limiter.explain(7, { userAgent: AGENTS.windows })
    expect(desktop).toMatchObject({ nextLogin: 'refused', label: 'desktop', live: [{ label: 'desktop' }, {}] })
    expect(await limiter.explain(7)).toMatchObject({ nextLogin: 'admitted', limits: labels.limits })
    expect(desktop.live[1]).not.toHaveProperty('label')
  })

  it('says when an idle session gives its slot back, and which labels have a limit by a function', async () => {
    const limits = (label: string) => (label === 'mobile' ? undefined : 4)
    const settings = { maximum: 2, logic: 'block', idle_release: 300 }
    const { limiter, login, clock } = createLimiterWorld({ labels: { limits, deadlineMs: 60_000 }, settings })
    await login(7, { userAgent: AGENTS.windows }, DAY)
    expect(await limiter.explain(7)).not.toHaveProperty('freeAt')
    const used = clock.now()
    clock.advance(100_000)
    await login(7, {}, DAY)
    const full = await limiter.explain(7)
    expect(full).toMatchObject({ nextLogin: 'refused', freeAt: used + 300_000 })
    await limiter.settings.update({ maximum: 9 })
    await login(7, { userAgent: AGENTS.iphone }, DAY)
    expect(Object.entries((await limiter.explain(7)).limits ?? {})).toEqual([['desktop', 4]])
    expect(await limiter.explain(7, { mode: 'allow' })).not.toHaveProperty('freeAt')
  })

  it('refuses what is no user, or no option', async () => {
    const { limiter } = createLimiterWorld()
    await expect(limiter.explain(null as never)).rejects.toMatchObject({ code: 'user_id_missing' })
    for (const options of [{ agent: '' }, { mode: 'bloc' }, { maximum: 0 }, { userAgent: 5 }, 'block'] as never[]) {
      await expect(limiter.explain(7, options)).rejects.toMatchObject({ code: 'invalid_option' })
    }
  })
})
