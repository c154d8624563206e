import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Arena, startArena } from '../support/arena.ts'
import { printFigures } from '../support/print-figures.ts'
import { expectExact, raceLogins, raceUsers } from '../support/race-logins.ts'

const LOGINS = 10_000
const USERS = 1000
const MODES = ['allow', 'logout_oldest', 'logout_idlest', 'block', 'ask']

describe('four processes on one Redis', () => {
  let arena: Arena
  beforeAll(async () => {
    arena = await startArena({ processes: 4, users: 2 * USERS + MODES.length * 3 })
  })
  afterAll(() => arena.stop())

  let user = 2 * USERS
  for (const logic of MODES) {
    for (const maximum of [1, 3, 10]) {
      it(`rule 5: ${LOGINS} parallel logins of one account, ${logic}, maximum ${maximum}`, async () => {
        const settings = { maximum, logic }
        const race = await raceLogins(arena, { user: ++user, logins: LOGINS, settings })
        printFigures(`${logic}, maximum ${maximum}`, race)
        expectExact(race, LOGINS, settings)
        expect(race.samples).toBeGreaterThan(500)
        expect(arena.ended()).toBe(0)
      })
    }
  }

  for (const [index, logic] of ['logout_oldest', 'block'].entries()) {
    it(`rule 5: ${USERS} users with 20 parallel logins each end with exactly 3 sessions, ${logic}`, async () => {
      const settings = { maximum: 3, logic }
      const result = await raceUsers(arena, { from: 1 + index * USERS, users: USERS, loginsEach: 20, settings })
      printFigures(`${USERS} users, ${logic}`, result)
      expect(result.counts).toEqual({ 3: USERS })
      const { statuses } = result
      expect(statuses).toEqual(logic === 'block' ? { 200: 3 * USERS, 403: 17 * USERS } : { 200: 20 * USERS })
      expect(arena.ended()).toBe(0)
    })
  }
})
