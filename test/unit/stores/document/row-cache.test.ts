import { describe, expect, it } from 'vitest'
import { consoleLogger } from '../../../../src/ground/logger.ts'
import { tokenOf } from '../../../../src/index.ts'
import type { DocumentRow } from '../../../../src/stores/document/document-driver.ts'
import { DocumentRows } from '../../../../src/stores/document/document-rows.ts'
import { DocumentSessionRegistry } from '../../../../src/stores/document/document-session-registry.ts'
import { DocumentLogoutEpoch } from '../../../../src/stores/document/document-values.ts'
import { RowCache } from '../../../../src/stores/document/row-cache.ts'
import type { WatchedSession } from '../../../../src/stores/store.ts'
import { MemoryRows } from '../../../support/memory-driver.ts'

const NOW = 1_800_000_000_000

interface Asked {
  readonly key: string
  readonly note: (row: DocumentRow | undefined) => void
  readonly failed: () => void
}

/** A session as a row has it, but for what is the same in all of them. */
type Life = { readonly g?: number; readonly x?: number }

/** A cache whose reads are answered when the test says so. */
function start(capacity = 20_000) {
  const asked: Asked[] = []
  const time: { now: number | undefined } = { now: NOW }
  const rows = new DocumentRows(new MemoryRows().driver(), { deadlineMs: 1000 })
  const cache = new RowCache(
    { read: (key, note, failed = () => {}) => void asked.push({ key, note, failed }) },
    {
      sessions: new DocumentSessionRegistry(rows, consoleLogger),
      epoch: new DocumentLogoutEpoch(rows),
      clock: { latest: () => time.now, earliest: () => (time.now ?? 0) - 1000 },
    },
    capacity,
  )
  const answer = (key: string, text: string | undefined) => {
    const place = asked.findIndex((it) => it.key === key)
    const [one] = asked.splice(place, 1) as [Asked]
    one.note(text === undefined ? undefined : { revision: 'a', text })
  }
  const rowOf = (lives: Record<string, Life>) => {
    const s = Object.entries(lives).map(([id, { x = 60_000, g = 0 }], index) => [
      id,
      index === 0 ? NOW - 1000 : 0,
      1000,
      x,
      0,
      0,
      g,
    ])
    return JSON.stringify({ s })
  }
  const session = (userId: string, sessionId: string): WatchedSession => ({ userId, token: tokenOf(sessionId) })
  /** Learns of a session from a row, and from an epoch of 0. */
  const learned = (userId: string, sessionId: string, lives: Record<string, Life> = { [sessionId]: {} }) => {
    const one = session(userId, sessionId)
    cache.learn(one)
    if (asked[0]?.key === 'epoch') answer('epoch', undefined)
    answer(`u:${userId}`, rowOf(lives))
    return one
  }
  return { cache, asked, answer, rowOf, session, learned, time }
}

describe('the rows that are remembered', () => {
  it('do not say so if the row changes between the reading and its answer', () => {
    const { cache, answer, rowOf, session } = start()
    const alice = session('alice', 'a')
    cache.learn(alice)
    answer('epoch', undefined)
    cache.forget('u:alice')
    answer('u:alice', rowOf({ a: {} }))
    expect(cache.knows(alice)).toBe(false)
  })

  it('say nothing while the epoch or the time is unknown, and read the epoch again if that has failed', () => {
    const { cache, asked, answer, rowOf, session, time } = start()
    const alice = session('alice', 'a')
    cache.learn(alice)
    asked.shift()?.failed()
    answer('u:alice', rowOf({ a: {} }))
    expect(cache.knows(alice)).toBe(false)
    cache.learn(alice)
    expect(asked.map(({ key }) => key)).toEqual(['epoch', 'u:alice'])
    answer('epoch', undefined)
    answer('u:alice', rowOf({ a: {} }))
    expect(cache.knows(alice)).toBe(true)
    time.now = undefined
    expect(cache.knows(alice)).toBe(false)
  })

  it('serve further sessions of the same user without another reading, and end with the first that expires', () => {
    const { cache, asked, learned, session, time } = start()
    const [one, two] = [learned('alice', 'a', { a: {}, b: { x: 10 } }), session('alice', 'b')]
    cache.learn(two)
    expect(asked).toEqual([])
    expect([cache.knows(one), cache.knows(two)]).toEqual([true, true])
    time.now = NOW + 10
    expect([cache.knows(one), cache.knows(two)]).toEqual([false, false])
    cache.learn(one)
    expect(asked.map(({ key }) => key)).toEqual(['u:alice'])
  })

  it('make room when there are too many: one that was used lately is kept, and what makes room says nothing more', () => {
    const { cache, learned } = start(2)
    const [alice, bob] = [learned('alice', 'a'), learned('bob', 'b')]
    expect(cache.knows(alice)).toBe(true)
    learned('carol', 'c')
    expect(cache.knows(bob)).toBe(false)
    expect(cache.knows(alice)).toBe(true)
  })
})
