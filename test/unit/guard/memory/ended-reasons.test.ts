import { describe, expect, it } from 'vitest'
import { EndedReasons } from '../../../../src/guard/memory/ended-reasons.ts'

const CAPACITY = 10_000

describe('why sessions ended', () => {
  it('is told as often as it is asked, by the latest note', () => {
    const reasons = new EndedReasons()
    reasons.note('a', 'logout_all')
    reasons.note('a', 'ended')
    expect([reasons.get('a'), reasons.get('a'), reasons.get('b')]).toEqual(['ended', 'ended', undefined])
  })

  it('is remembered of 10,000 sessions, those noted last', () => {
    const reasons = new EndedReasons()
    for (let id = 0; id < CAPACITY; id++) reasons.note(`${id}`, 'ended')
    expect(reasons.get('0'), 'the first, while there is room').toBe('ended')
    reasons.note('0', 'ended')
    reasons.note('one more', 'ended')
    expect(reasons.get('0'), 'the first, noted again').toBe('ended')
    expect(reasons.get('1'), 'the oldest note').toBeUndefined()
    expect(reasons.get('2'), 'the oldest but one').toBe('ended')
  })
})
