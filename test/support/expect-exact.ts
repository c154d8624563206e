import { expect } from 'vitest'
import type { LoginRace } from './race-logins.ts'
import type { LimitSettings } from './whole-settings.ts'

/** Expects that a race of logins exceeds no limit, loses no session and leaves nothing behind. */
export function expectExact(race: LoginRace, logins: number, { maximum, logic }: LimitSettings): void {
  const refusals: Readonly<Record<string, number>> = { block: 403, ask: 409 }
  const refusal = refusals[logic]
  expect(race.statuses).toEqual(refusal ? { 200: maximum, [refusal]: logins - maximum } : { 200: logins })
  expect(race.mostAtOnce).toBeLessThanOrEqual(maximum)
  expect(race.left).toBeLessThanOrEqual(maximum)
  // Mode allow starts again with one session whenever the limit is reached.
  expect(race.left).toBeGreaterThanOrEqual(logic === 'allow' ? 1 : maximum)
  expect(race).toMatchObject({ strange: 0, remains: 0 })
}
