import { describe, expect, it } from 'vitest'
import { ask } from '../../../src/strategies/ask.ts'
import { limitContext } from '../../support/limit-context.ts'
import { sessionRecords } from '../../support/session-records.ts'

describe('ask', () => {
  it('asks for as many sessions as must end, at every count and maximum', () => {
    for (let count = 0; count <= 12; count++) {
      const sessions = sessionRecords(count)
      for (let maximum = 1; maximum <= 14; maximum++) {
        const need = Math.max(1, count - maximum + 1)
        for (let chosen = 0; chosen <= count; chosen++) {
          const decision = ask.decide(limitContext({ sessions, maximum, chosen: sessions.slice(0, chosen) }))
          const isEnough = chosen >= need
          expect(decision).toEqual({ admit: isEnough, end: [], actions: [], ...(!isEnough && { choose: need }) })
        }
      }
    }
  })

  it('is stored as ask and shown as Let the User Choose', () => {
    expect([ask.id, ask.label]).toEqual(['ask', 'Let the User Choose'])
  })
})
