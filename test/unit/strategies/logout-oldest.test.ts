import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logoutOldest } from '../../../src/strategies/logout-oldest.ts'
import { limitContext } from '../../support/limit-context.ts'
import { sessionRecords } from '../../support/session-records.ts'

const manySessions = sessionRecords(2000)

describe('logout_oldest', () => {
  it('rule 4: ends the oldest session to make room for the login', () => {
    const [oldest, ...others] = sessionRecords(3)
    const decision = logoutOldest.decide(limitContext({ sessions: [oldest, ...others] as never, maximum: 3 }))
    expect(decision).toEqual({ admit: true, end: [oldest], actions: [['sessmgr_destroy_oldest_session', 7]] })
  })

  it('rule 4: ends as many as a lowered limit takes, and fires once for each', () => {
    const sessions = sessionRecords(5)
    const { end, actions } = logoutOldest.decide(limitContext({ sessions, maximum: 2 }))
    expect(end).toEqual(sessions.slice(0, 4))
    expect(actions).toEqual(Array(4).fill(['sessmgr_destroy_oldest_session', 7]))
  })

  it('rule 4: ends one when the limit is forced below the maximum', () => {
    const sessions = sessionRecords(2)
    expect(logoutOldest.decide(limitContext({ sessions, maximum: 10 })).end).toEqual(sessions.slice(0, 1))
  })

  it('rule 10: admits and fires nothing when the limit is forced without an old session', () => {
    expect(logoutOldest.decide(limitContext({ sessions: [], maximum: 1 }))).toEqual({
      admit: true,
      end: [],
      actions: [],
    })
  })

  it('rule 4: ends max(1, count - maximum + 1) of the oldest sessions for every count and maximum', () => {
    const maximum = fc.oneof(fc.integer({ min: 1, max: 2500 }), fc.constant(Number.MAX_SAFE_INTEGER))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), maximum, (count, maximum) => {
        const sessions = manySessions.slice(0, count)
        const { admit, end, actions } = logoutOldest.decide(limitContext({ sessions, maximum }))
        const ended = Math.max(1, count - maximum + 1)
        expect(admit).toBe(true)
        expect(end).toEqual(sessions.slice(0, ended))
        expect(actions.length).toBe(ended)
        if (count >= maximum) expect(count - ended + 1).toBe(maximum)
      }),
      { numRuns: 300 },
    )
  })
})
