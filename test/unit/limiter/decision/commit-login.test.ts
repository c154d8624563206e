import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Leftovers } from '../../../../src/limiter/decision/commit-login.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'

const [one, two] = [tokenOf('one'), tokenOf('two')]

describe('sessions of failed logins', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('end as soon as the registry can be reached again, one after the other', async () => {
    const end = vi
      .fn(async () => [])
      .mockRejectedValueOnce(new Error('down'))
      .mockRejectedValueOnce(new Error('down'))
    const leftovers = new Leftovers({ end })
    leftovers.add(7, one)
    leftovers.add(8, two)
    await vi.advanceTimersByTimeAsync(2500)
    expect(end.mock.calls).toEqual([
      [7, [one]],
      [7, [one]],
    ])
    await vi.advanceTimersByTimeAsync(1000)
    expect(end.mock.calls.slice(2)).toEqual([
      [7, [one]],
      [8, [two]],
    ])
    await vi.advanceTimersByTimeAsync(10_000)
    expect([end.mock.calls.length, vi.getTimerCount()]).toEqual([4, 0])
  })

  it('are forgotten after ten minutes without the registry', async () => {
    const end = vi.fn(() => Promise.reject(new Error('down')))
    new Leftovers({ end }).add(7, one)
    await vi.advanceTimersByTimeAsync(700_000)
    expect([end.mock.calls.length, vi.getTimerCount()]).toEqual([601, 0])
  })
})
