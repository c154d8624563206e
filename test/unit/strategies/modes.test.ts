import { describe, expect, it } from 'vitest'
import { allow } from '../../../src/strategies/allow.ts'
import { ask } from '../../../src/strategies/ask.ts'
import { block } from '../../../src/strategies/block.ts'
import { logoutIdlest } from '../../../src/strategies/logout-idlest.ts'
import { logoutOldest } from '../../../src/strategies/logout-oldest.ts'
import { limitContext } from '../../support/limit-context.ts'
import { sessionRecords, usedAt } from '../../support/session-records.ts'

describe('at the limit', () => {
  it('rule 3: allow admits, ends all old sessions and fires once, also (rule 10) where there is none', () => {
    for (const count of [0, 1, 5]) {
      const sessions = sessionRecords(count)
      const actions = [['sessmgr_destroy_all_sessions', 'u']]
      const expected = { admit: true, end: sessions, kind: 'displaced', actions }
      expect(allow.decide(limitContext({ userId: 'u', sessions, maximum: 1 }))).toEqual(expected)
    }
  })

  it('rule 4: logout_oldest ends max(1, count - maximum + 1) of the oldest, and fires for each; rule 10: or none', () => {
    const maxima = [1, 2, 3, 9, 10, 11, Number.MAX_SAFE_INTEGER]
    for (const [count, maximum] of [0, 1, 2, 10].flatMap((count) =>
      maxima.map((maximum) => [count, maximum] as const),
    )) {
      const sessions = sessionRecords(count)
      const end = sessions.slice(0, Math.max(1, count - maximum + 1))
      const actions = end.map(() => ['sessmgr_destroy_oldest_session', 7])
      const decision = logoutOldest.decide(limitContext({ sessions, maximum }))
      expect(decision, `${count} sessions, maximum ${maximum}`).toEqual({ admit: true, end, actions })
    }
  })

  it('block refuses and leaves the old sessions alone, also (rule 10) where there is none', () => {
    for (const count of [0, 1, 10]) {
      const decision = block.decide(limitContext({ sessions: sessionRecords(count), maximum: 1 }))
      expect(decision).toEqual({ admit: false, end: [], actions: [['sessmgr_login_blocked', 7]] })
    }
  })

  it('ask wants as many sessions as must end, at every count and maximum', () => {
    for (const [count, maximum] of [0, 1, 2, 5].flatMap((count) =>
      [1, 2, 5, 6].map((most) => [count, most] as const),
    )) {
      const sessions = sessionRecords(count)
      const need = Math.max(1, count - maximum + 1)
      for (let chosen = 0; chosen <= count; chosen++) {
        const decision = ask.decide(limitContext({ sessions, maximum, chosen: sessions.slice(0, chosen) }))
        const isEnough = chosen >= need
        const rest = isEnough ? { kind: 'idle' } : { choose: need }
        expect(decision).toEqual({ admit: isEnough, end: [], actions: [], ...rest })
      }
    }
  })
})

describe('sessions that are unused', () => {
  const actionsOf = (...ended: ({ token: string } | undefined)[]) =>
    ended.map((it) => ['sessmgr_destroy_session', 7, it?.token])

  it('make room in block, the longest unused first, if there are enough of them, and only as many as needed', () => {
    const sessions = usedAt(300, 100, 301, 200)
    const [a, b, , d] = sessions
    const decide = (maximum: number) => block.decide(limitContext({ sessions, maximum, now: 1000, idleAfterMs: 700 }))
    expect(decide(4)).toEqual({ admit: true, end: [b], kind: 'idle', actions: actionsOf(b) })
    expect(decide(2)).toEqual({ admit: true, end: [b, d, a], kind: 'idle', actions: actionsOf(b, d, a) })
    expect(decide(1)).toEqual({ admit: false, end: [], actions: [['sessmgr_login_blocked', 7]] })
  })

  it('make room in ask before it asks, and only as many as the chosen ones leave over', () => {
    const sessions = usedAt(900, 100, 300, 950, 200)
    const [a, b, c, d, e] = sessions
    const decide = (maximum: number, ...chosen: unknown[]) =>
      ask.decide(limitContext({ sessions, maximum, chosen: chosen as never, now: 1000, idleAfterMs: 700 }))
    const actions = [['sessmgr_destroy_session', 7, b?.token]]
    expect(decide(5)).toMatchObject({ admit: true, end: [b], kind: 'idle', actions })
    expect(decide(3)).toMatchObject({ admit: true, end: [b, e, c], kind: 'idle' })
    expect(decide(2)).toMatchObject({ admit: false, end: [], choose: 4 })
    expect(decide(2, a)).toMatchObject({ admit: true, end: [b, e, c] })
    expect(decide(2, a, d)).toMatchObject({ admit: true, end: [b, e] })
    expect(decide(2, b)).toMatchObject({ admit: false, choose: 4 })
    expect(decide(4, a, b)).toMatchObject({ admit: true, end: [] })
  })

  it('for longest end in logout_idlest, and of those used at the same time the older one', () => {
    const sessions = usedAt(300, 200, 100, 200)
    const [first, second, third, fourth] = sessions
    const endAt = (maximum: number) => logoutIdlest.decide(limitContext({ sessions, maximum }))
    const actions = [['sessmgr_destroy_session', 7, third?.token]]
    for (const forced of [4, 9]) expect(endAt(forced), 'rule 10').toEqual({ admit: true, end: [third], actions })
    expect(endAt(2).end).toEqual([third, second, fourth])
    expect(endAt(1).end).toEqual([third, second, fourth, first])
    expect(logoutIdlest.decide(limitContext({ sessions: [] }))).toEqual({ admit: true, end: [], actions: [] })
  })

  it('end once each in logout_idlest, in the order of their logins, and those with other labels last', () => {
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
})
