import { describe, expect, it } from 'vitest'
import { ask } from '../../../src/strategies/ask.ts'
import { limitContext } from '../../support/limit-context.ts'
import { sessionRecords, usedAt } from '../../support/session-records.ts'

describe('ask', () => {
  it('asks for as many sessions as must end, at every count and maximum', () => {
    for (let count = 0; count <= 12; count++) {
      const sessions = sessionRecords(count)
      for (let maximum = 1; maximum <= 14; maximum++) {
        const need = Math.max(1, count - maximum + 1)
        for (let chosen = 0; chosen <= count; chosen++) {
          const decision = ask.decide(limitContext({ sessions, maximum, chosen: sessions.slice(0, chosen) }))
          const isEnough = chosen >= need
          const rest = isEnough ? { kind: 'idle' } : { choose: need }
          expect(decision).toEqual({ admit: isEnough, end: [], actions: [], ...rest })
        }
      }
    }
  })

  it('ends idle sessions before it asks, and only as many as the chosen ones leave over', () => {
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
})
