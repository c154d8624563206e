import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ServerClock } from '../../../../src/stores/redis/server-clock.ts'

const SERVER = 1_700_000_000_000
const MARGIN_MS = 1000

describe('the clock of the Redis server', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('is unknown until it is learnt, runs on, is never behind the server, and goes back with it', () => {
    const clock = new ServerClock()
    expect(clock.latest()).toBeUndefined()
    const sentAt = performance.now()
    vi.advanceTimersByTime(300)
    // The server may have read its clock as soon as the call was sent.
    clock.learn(SERVER, sentAt)
    expect(clock.latest()).toBe(SERVER + 300 + MARGIN_MS)
    vi.advanceTimersByTime(5000)
    expect(clock.latest()).toBe(SERVER + 5300 + MARGIN_MS)
    clock.learn(SERVER - 60_000, performance.now())
    expect(clock.latest()).toBe(SERVER - 60_000 + MARGIN_MS)
  })

  it('is due at first, and then once a minute, for one call', () => {
    const clock = new ServerClock()
    expect([clock.isDue(), clock.isDue()]).toEqual([true, false])
    clock.learn(SERVER, performance.now())
    vi.advanceTimersByTime(59_999)
    expect(clock.isDue()).toBe(false)
    vi.advanceTimersByTime(1)
    expect([clock.isDue(), clock.isDue()]).toEqual([true, false])
  })
})
