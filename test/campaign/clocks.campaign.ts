import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Arena, startArena } from '../support/arena.ts'
import { printFigures } from '../support/print-figures.ts'
import { expectExact, raceLogins } from '../support/race-logins.ts'

const LOGINS = 3400

describe('four processes whose clocks are up to four minutes apart', () => {
  let arena: Arena
  beforeAll(async () => {
    arena = await startArena({ processes: 4, users: 10, clockSkewMs: [-120_000, -1000, 0, 120_000] })
  })
  afterAll(() => arena.stop())

  for (const [index, logic] of ['allow', 'logout_oldest', 'block'].entries()) {
    it(`rule 5: come to the same verdicts on ${LOGINS} parallel logins of one account, ${logic}`, async () => {
      const settings = { maximum: 3, logic }
      const race = await raceLogins(arena, { user: 1 + index, logins: LOGINS, settings })
      printFigures(`skewed clocks, ${logic}`, race)
      expectExact(race, LOGINS, settings)
      expect(arena.ended()).toBe(0)
    })
  }
})
