import { describe, expect, it } from 'vitest'
import { block } from '../../../src/strategies/block.ts'
import { limitContext } from '../../support/limit-context.ts'
import { sessionRecords, usedAt } from '../../support/session-records.ts'

describe('block', () => {
  it('rejects the login and leaves the old sessions alone, however many there are', () => {
    for (const count of [1, 3, 10]) {
      const decision = block.decide(limitContext({ sessions: sessionRecords(count), maximum: 1 }))
      expect(decision).toEqual({ admit: false, end: [], actions: [['sessmgr_login_blocked', 7]] })
    }
  })

  it('rule 10: rejects when the limit is forced without an old session', () => {
    expect(block.decide(limitContext({ sessions: [], maximum: 3 })).admit).toBe(false)
  })

  it('ends as many idle sessions as needed, longest unused first, and otherwise none', () => {
    const sessions = usedAt(300, 100, 301, 200)
    const [a, b, , d] = sessions
    const decide = (maximum: number) => block.decide(limitContext({ sessions, maximum, now: 1000, idleAfterMs: 700 }))
    const actionsOf = (...ended: (typeof a)[]) => ended.map((it) => ['sessmgr_destroy_session', 7, it?.token])
    expect(decide(4)).toEqual({ admit: true, end: [b], kind: 'idle', actions: actionsOf(b) })
    expect(decide(2)).toEqual({ admit: true, end: [b, d, a], kind: 'idle', actions: actionsOf(b, d, a) })
    expect(decide(1)).toEqual({ admit: false, end: [], actions: [['sessmgr_login_blocked', 7]] })
  })
})
