import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { UserId } from '../../../../src/index.ts'
import { SharedUses } from '../../../../src/stores/document/shared-uses.ts'
import { EMPTY, type Moment, type Step, type UserDocument } from '../../../../src/stores/document/user-document.ts'

const MOMENT: Moment = { now: 1, sequence: 1, createdAt: 1 }

describe("the uses of a user's sessions", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  function start(fails = false) {
    const written: [userId: UserId, tokens: readonly string[], document: UserDocument | undefined][] = []
    const warnings: unknown[][] = []
    const warn = (...parts: unknown[]) => void warnings.push(parts)
    const uses = new SharedUses({ warn, error: warn }, async (userId, tokens, step) => {
      written.push([userId, tokens, step(EMPTY, MOMENT).next])
      if (fails) throw new Error('down')
      return true
    })
    return { uses, written, warnings }
  }

  /** Marks that it has run, and how often. */
  const adding =
    (mark: number): Step<boolean> =>
    (document) => ({ result: true, next: { ...document, mark: document.mark + mark } })
  const nothing: Step<boolean> = () => ({ result: true })

  it('are written together when that second is over, and the last of each session counts', async () => {
    const { uses, written } = start()
    expect(uses.isDue(7)).toBe(true)
    await uses.write(7, ['a'], nothing)
    expect([uses.isDue(7), uses.isDue('bob')]).toEqual([false, true])
    vi.advanceTimersByTime(600)
    uses.add(7, 'a', adding(1))
    uses.add(7, 'b', adding(10))
    uses.add(7, 'a', adding(100))
    await vi.advanceTimersByTimeAsync(399)
    expect(written).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(written.slice(1)).toEqual([[7, ['a', 'b'], { ...EMPTY, mark: 110 }]])
    // That was a write, too.
    expect(uses.isDue(7)).toBe(false)
    uses.add(7, 'a', adding(1))
    await vi.advanceTimersByTimeAsync(999)
    expect(written).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(1)
    expect(written).toHaveLength(3)
  })

  it('that wait are all written when the store is closed, and not again', async () => {
    const { uses, written } = start()
    await uses.write('alice', ['a'], nothing)
    uses.add('alice', 'a', nothing)
    uses.add('bob', 'b', nothing)
    await uses.writeAll()
    expect(written.map(([userId]) => userId)).toEqual(['alice', 'alice', 'bob'])
    await vi.advanceTimersByTimeAsync(5000)
    expect(written).toHaveLength(3)
  })

  it('whose write fails later are reported, and nothing else happens', async () => {
    const { uses, written, warnings } = start(true)
    uses.add('alice', 'a', nothing)
    await vi.advanceTimersByTimeAsync(1000)
    expect(written).toHaveLength(1)
    expect(warnings).toHaveLength(1)
    expect(JSON.stringify(warnings)).toContain('could not be saved')
    expect(JSON.stringify(warnings)).toContain('down')
    await uses.writeAll()
    expect(written).toHaveLength(1)
  })
})
