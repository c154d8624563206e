import { expect, it } from 'vitest'
import type { CodeSettings } from '../../../../src/options/setting-rules.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { createLimiterWorld } from '../../../support/limiter-world.ts'

const DAY_MS = 86_400_000
const BLOCK = { logic: 'block' }

async function warningsOf(settings: CodeSettings, attempt = {}, ttlMs = 14 * DAY_MS): Promise<unknown[]> {
  const world = createLimiterWorld({ settings, clock: fakeClock(Date.UTC(2026, 10, 22)) })
  for (const user of [1, 2, 3]) await world.login(user, attempt, ttlMs)
  return world.logged.map(([message]) => message)
}

it('warns once, at the first login, that a lost cookie locks its user out', async () => {
  expect(await warningsOf(BLOCK)).toEqual([
    expect.stringMatching(/^Mode block without idle_release: .* until 2026-12-06\. Set .*#block-without-a-way-out$/),
  ])
})

it.each([
  ['another mode', { logic: 'ask' }],
  ['an idle release', { ...BLOCK, idle_release: 300 }],
  ['report-only', { ...BLOCK, enforce: false }],
  ['the option device', BLOCK, { device: 'home-12345678901' }],
  ['sessions that last a day', BLOCK, {}, DAY_MS],
])('is silent with %s', async (_, settings, attempt?: object, ttlMs?: number) => {
  expect(await warningsOf(settings, attempt, ttlMs)).toEqual([])
})

it('judges an unconfirmed session by how long it will last', async () => {
  const { limiter, host, logged } = createLimiterWorld({ settings: BLOCK })
  await limiter.admit({ userId: 7 }, async () => ({ ...host.establish(120_000), lifeMs: 14 * DAY_MS }))
  expect(logged).toHaveLength(1)
})
