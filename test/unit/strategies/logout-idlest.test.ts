import { describe, expect, it } from 'vitest'
import { logoutIdlest } from '../../../src/strategies/logout-idlest.ts'
import { limitContext } from '../../support/limit-context.ts'
import { usedAt } from '../../support/session-records.ts'

describe('logout_idlest', () => {
  it('ends the sessions unused for longest, and the older one of two that were used at the same time', () => {
    const sessions = usedAt(300, 200, 100, 200)
    const [first, second, third, fourth] = sessions
    const endAt = (maximum: number) => logoutIdlest.decide(limitContext({ sessions, maximum }))
    const actions = [['sessmgr_destroy_session', 7, third?.token]]
    expect(endAt(4)).toEqual({ admit: true, end: [third], actions })
    expect(endAt(3).end).toEqual([third, second])
    expect(endAt(2).end).toEqual([third, second, fourth])
    expect(endAt(1).end).toEqual([third, second, fourth, first])
  })

  it('ends each once, in the order of their logins whatever that of the list, and those with other labels last', () => {
    const [first, second, third] = usedAt(100, 100, 100)
    for (const sessions of [
      [first, second, third],
      [third, second, first],
    ] as never[]) {
      expect(logoutIdlest.decide(limitContext({ sessions, maximum: 1 })).end).toEqual([first, second, third])
      const others = [first] as never
      expect(logoutIdlest.decide(limitContext({ sessions, others, maximum: 1 })).end).toEqual([second, third, first])
    }
  })

  it('rule 10: ends one when the limit is forced, and none if there is none', () => {
    const [session] = usedAt(100)
    expect(logoutIdlest.decide(limitContext({ maximum: 9, sessions: [session] as never })).end).toEqual([session])
    expect(logoutIdlest.decide(limitContext({ sessions: [] }))).toEqual({ admit: true, end: [], actions: [] })
  })
})
