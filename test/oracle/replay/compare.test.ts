import { describe, expect, it } from 'vitest'
import type { Told } from '../driver/told.ts'
import { type Command, type History, PLAIN } from '../histories/commands.ts'
import type { Allowance } from './allowed.ts'
import { compare, hashOf } from './compare.ts'
import type { Transcript } from './play.ts'

const wait: Command = { do: 'wait', process: 0, ms: 1000 }
const history: History = { name: 'made up', setup: PLAIN, commands: [wait, wait, wait] }

function told(changes: Partial<Told> = {}): Told {
  const nothing = { kinds: [], events: [], channels: [], filters: [], sessions: [], connections: [], live: ['ann: s1'] }
  return { outcome: 'done', ...nothing, ...changes }
}

const transcript = (...steps: Told[]): Transcript => ({ steps, activity: [] })
const plain = transcript(told(), told(), told())
/** Allows a session to end as never used, and nothing else. */
const allowance: Allowance = {
  number: 72,
  allows: ({ part, found }) => part === 'kinds' && found.kinds.every((kind) => kind.endsWith('never_used')),
}

describe('a comparison', () => {
  it('finds nothing in equal transcripts', () => {
    expect(compare(history, plain, plain)).toEqual({ allowed: [], dropped: 0 })
    expect(hashOf(history, plain)).toBe(hashOf(history, transcript(told(), told(), told())))
  })

  it('names the command and every part that differs, with both outcomes', () => {
    const found = transcript(told(), told({ outcome: 'refused', live: [] }), told())
    const { difference } = compare(history, plain, found)
    expect(difference?.kind).toBe('wait: outcome, live')
    expect(difference?.words).toContain('expected done')
    expect(difference?.words).toContain('found    nothing')
    expect(hashOf(history, found)).not.toBe(hashOf(history, plain))
  })

  it('finds a difference in the activity log alone', () => {
    const found = { ...plain, activity: ['session.ended'] }
    expect(compare(history, plain, found).difference?.kind).toBe('wait: activity')
  })
})

describe('an allowance', () => {
  const neverUsed = told({ kinds: ['s1 never_used'] })

  it('allows its outcome, and the rest is still compared', () => {
    const found = transcript(told(), neverUsed, told())
    expect(compare(history, plain, found, [allowance])).toEqual({ allowed: [72], dropped: 0 })
    expect(compare(history, plain, found, []).difference?.kind).toBe('wait: kinds')
    const wrongLater = transcript(told(), neverUsed, told({ outcome: 'refused' }))
    expect(compare(history, plain, wrongLater, [allowance]).difference?.kind).toBe('wait: outcome')
  })

  it('allows no other outcome, and none in another part', () => {
    const others = [told({ kinds: ['s1 displaced'] }), { ...neverUsed, live: [] }, { ...neverUsed, events: ['ended'] }]
    for (const other of others) {
      expect(compare(history, plain, transcript(told(), other, told()), [allowance]).difference).toBeDefined()
    }
  })

  it('ends the comparison if other sessions are live', () => {
    const more: Allowance = { number: 73, allows: ({ part }) => part === 'live' }
    const found = transcript(told(), { ...neverUsed, live: [] }, told({ outcome: 'refused' }))
    expect(compare(history, plain, found, [allowance, more])).toEqual({ allowed: [72, 73], dropped: 1 })
  })
})
