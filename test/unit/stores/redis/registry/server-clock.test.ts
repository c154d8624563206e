import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ServerClock } from '../../../../../src/stores/redis/registry/server-clock.ts'

const SERVER = 1_700_000_000_000
const MARGIN_MS = 1000

describe('the clock of the Redis server', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('is unknown until it is learnt, and nothing is to come then', () => {
    const clock = new ServerClock()
    expect(clock.isToCome(Number.MAX_SAFE_INTEGER)).toBe(false)
    clock.learn(SERVER, performance.now())
    expect(clock.isToCome(SERVER + MARGIN_MS + 1)).toBe(true)
  })

  it('runs on, and is never behind the server, however long the answer took', () => {
    const clock = new ServerClock()
    const sentAt = performance.now()
    vi.advanceTimersByTime(300)
    clock.learn(SERVER, sentAt)
    expect(clock.isToCome(SERVER + 300 + MARGIN_MS)).toBe(false)
    expect(clock.isToCome(SERVER + 301 + MARGIN_MS)).toBe(true)
    vi.advanceTimersByTime(5000)
    expect(clock.isToCome(SERVER + 301 + MARGIN_MS)).toBe(false)
  })

  it('tells a time that is never ahead of the server, however long the answer took', () => {
    const clock = new ServerClock()
    expect(clock.now()).toBeUndefined()
    const sentAt = performance.now()
    vi.advanceTimersByTime(300)
    clock.learn(SERVER, sentAt)
    expect(clock.now()).toBe(SERVER)
    vi.advanceTimersByTime(5000)
    expect(clock.now()).toBe(SERVER + 5000)
  })

  it('never takes a use for newer than it is, and takes one for recent only once the time is known', () => {
    const clock = new ServerClock()
    const life = { token: '', generation: 2, lastSeenAt: SERVER - 1000, expiresAt: SERVER + 4000 }
    expect(clock.useOf(life).usedAt).toBe(Number.NEGATIVE_INFINITY)
    const sentAt = performance.now()
    vi.advanceTimersByTime(300)
    // The server may have read its clock as soon as the call was sent.
    clock.learn(SERVER, sentAt)
    expect(clock.useOf(life)).toEqual({ generation: 2, usedAt: sentAt - 1000, ttlMs: 5000 })
  })

  it('is due again when the server contradicts it', () => {
    const clock = new ServerClock()
    clock.learn(SERVER, performance.now())
    expect(clock.isDue()).toBe(false)
    clock.doubt()
    expect(clock.isDue()).toBe(true)
  })

  it('is due once a minute', () => {
    const clock = new ServerClock()
    clock.learn(SERVER, performance.now())
    vi.advanceTimersByTime(59_999)
    expect(clock.isDue()).toBe(false)
    vi.advanceTimersByTime(1)
    expect([clock.isDue(), clock.isDue()]).toEqual([true, false])
  })
})
