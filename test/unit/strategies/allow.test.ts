import { describe, expect, it } from 'vitest'
import { allow } from '../../../src/strategies/allow.ts'
import { limitContext } from '../../support/limit-context.ts'
import { sessionRecords } from '../../support/session-records.ts'

describe('allow', () => {
  it('rule 3: admits the login and ends all old sessions', () => {
    const sessions = sessionRecords(2)
    const decision = allow.decide(limitContext({ sessions, maximum: 2 }))
    expect(decision.admit).toBe(true)
    expect(decision.end).toEqual(sessions)
  })

  it('fires its action once, however many sessions end', () => {
    for (const count of [1, 2, 5]) {
      const { actions } = allow.decide(limitContext({ userId: 'u', sessions: sessionRecords(count), maximum: 1 }))
      expect(actions).toEqual([['sessmgr_destroy_all_sessions', 'u']])
    }
  })

  it('rule 10: fires its action and admits when the limit is forced without an old session', () => {
    expect(allow.decide(limitContext({ sessions: [], maximum: 1 }))).toEqual({
      admit: true,
      end: [],
      kind: 'displaced',
      actions: [['sessmgr_destroy_all_sessions', 7]],
    })
  })
})
