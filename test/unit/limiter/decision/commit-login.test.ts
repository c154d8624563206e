import { describe, expect, it, vi } from 'vitest'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../../src/stores/memory-store.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { createLimiterWorld, SimpleHost } from '../../../support/limiter-world.ts'

type Parts = NonNullable<Parameters<typeof createLimiterWorld>[0]>

/** A limiter that knows its settings, on a registry that is asked to decide by itself and declines. */
async function startAsking(parts: Parts = {}, prefix: string | null = 'sess:', looksForMarks = true) {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const asked = vi.fn(async (..._login: unknown[]) => undefined)
  Object.assign(store.sessions, { admitAtOnce: asked, looksForMarks })
  const host = Object.assign(new SimpleHost(), { prefix: prefix ?? undefined })
  const world = createLimiterWorld({ store, clock, host, ...parts })
  await world.login(1)
  asked.mockClear()
  return { ...world, asked }
}

describe('the registry decides by itself on', () => {
  it.each([
    ['allow', 'all', 1],
    ['logout_oldest', 'oldest', 3],
  ])('a plain login in mode %s', async (logic, end, maximum) => {
    const { login, asked } = await startAsking({ settings: { maximum, logic } })
    await login(7, { ip: '192.0.2.7'.padEnd(200, '0'), userAgent: 'x'.repeat(2000) }, 5000)
    expect(asked.mock.calls).toEqual([
      [
        7,
        {
          admit: {
            sessionId: 'raw-id-2',
            ttlMs: 5000,
            ip: expect.stringMatching(/^192\.0\.2\.70{1,90}$/),
            userAgent: expect.stringMatching(/^x{100,1000}$/),
            device: null,
          },
          maximum,
          end,
          hostPrefix: 'sess:',
          marks: expect.any(Array),
        },
      ],
    ])
  })

  it('no login that replaces, continues, ends or marks something else', async () => {
    const { login, asked } = await startAsking({ settings: { maximum: 5 } })
    const known = (await login(7)) as string
    asked.mockClear()
    await login(7, { replaces: known })
    await login(7, { device: 'a device' })
    const other = (await login(7)) as string
    asked.mockClear()
    await login(7, { continues: tokenOf(other) })
    await login(7, { ends: [tokenOf(other)] })
    expect(asked).not.toHaveBeenCalled()
    await login(7, { ends: [] })
    expect(asked).toHaveBeenCalledOnce()
  })

  it.each([
    ['enforce is false', { enforce: false }],
    ['unused sessions may free their slots', { idle_release: 1800 }],
    ['the mode is block', { logic: 'block' }],
    ['the mode is ask', { logic: 'ask' }],
    ['the mode is logout_idlest', { logic: 'logout_idlest' }],
  ])('no login if %s', async (_, settings) => {
    const { login, asked } = await startAsking({ settings })
    await login(7)
    expect(asked).not.toHaveBeenCalled()
  })

  it.each([
    ['there are limits per label', { labels: { limits: { phone: 1 }, labelOf: () => 'phone', deadlineMs: 1000 } }],
    ['there is an index of people', { directory: true }],
  ])('no login if %s', async (_, parts) => {
    const { login, asked } = await startAsking(parts)
    await login(7)
    expect(asked).not.toHaveBeenCalled()
  })

  it('no login if the session store is another, or the registry does not look for marks', async () => {
    for (const { login, asked } of [await startAsking({}, null), await startAsking({}, 'sess:', false)]) {
      await login(7)
      expect(asked).not.toHaveBeenCalled()
    }
  })

  it.each(['sessmgr_bypass', 'sessmgr_reached_limit', 'sessmgr_enforce', 'sessmgr_maximum'] as const)(
    'no login while the filter %s has subscribers',
    async (name) => {
      const { login, asked, limiter } = await startAsking()
      const remove = limiter.hooks.addFilter(name as 'sessmgr_bypass', 'test', (value) => value)
      await login(7)
      expect(asked).not.toHaveBeenCalled()
      remove()
      await login(7)
      expect(asked).toHaveBeenCalledOnce()
    },
  )

  it('no login once the mode has changed, although the limiter still knows the former one', async () => {
    const { login, live, asked, limiter } = await startAsking({ settings: { maximum: 1 } })
    const first = await login(7)
    asked.mockClear()
    await limiter.settings.update({ logic: 'block' })
    expect(await login(7)).toBeUndefined()
    expect([asked.mock.calls, await live(7)]).toEqual([[], [first]])
  })
})
