import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, it, onTestFinished, test, vi } from 'vitest'
import type { HostCookie } from '../../../src/door/host-types.ts'
import {
  type CacheRate,
  cookieTtl,
  lastCacheRate,
  lifeOf,
  SeenSession,
  SeenSessions,
  SessionLives,
} from '../../../src/door/sessions/session-lives.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { aWarning } from '../../support/a-warning.ts'
import { createGuardWorld } from '../../support/guard-world.ts'
import { TestStore } from '../../support/test-store.ts'

const NOW = 1_700_000_000_000
const DAY = 24 * 60 * 60_000
const MINUTE = 60_000

/** The lives in a store, and what was logged about them. */
function livesIn(store: object) {
  const logged: string[] = []
  const warn = (message: string) => void logged.push(message)
  return { lives: new SessionLives(store, { warn, error: warn }), logged }
}

const { lives } = livesIn({})
const expiring = (ms: number) => ({ cookie: { expires: new Date(NOW + ms), originalMaxAge: ms } })
const INVALID = { cookie: { expires: new Date(Number.NaN), originalMaxAge: Number.NaN } }
const WITH_BROWSER = { cookie: { expires: null, originalMaxAge: null } }

function stopClock(toFake: ('Date' | 'performance')[]) {
  vi.useFakeTimers({ now: NOW, toFake })
  onTestFinished(() => void vi.useRealTimers())
}

test('rule 66: a session lives until its cookie expires, is over from then on, and else lasts for 14 days', () => {
  stopClock(['Date'])
  for (const [data, ttl, isOver] of [
    [expiring(5000), 5000, false],
    [{ cookie: { expires: new Date(NOW + 5000).toISOString() } }, 5000, false],
    [{ _expire: NOW + 5000 }, 5000, false],
    [expiring(0), 1, true],
    [expiring(-1), 1, true],
    [{}, 14 * DAY, false],
    [WITH_BROWSER, 14 * DAY, false],
    [{ cookie: { expires: 'soon' } }, 14 * DAY, false],
    [INVALID, 14 * DAY, false],
  ] as const) {
    expect([lives.ttlOf(data), lives.isOver(data)], JSON.stringify(data)).toEqual([ttl, isOver])
  }
  expect([cookieTtl({ _expire: 5, cookie: { expires: 'soon' } }), lifeOf(INVALID)]).toEqual([undefined, undefined])
  expect([lifeOf({ _maxAge: 5 }), lifeOf({ _maxAge: 5, cookie: { originalMaxAge: 6 } })]).toEqual([5, 6])
  expect(lifeOf({ cookie: { originalMaxAge: '5000' as never } })).toBeUndefined()
})

describe('in a store that tells its own lifetime', () => {
  const getTTL = ({ cookie }: { cookie: HostCookie }) => (cookie.expires ? 86_400 : 3600)

  it('rule 66: a cookie that ends with the browser has the time of the store', () => {
    stopClock(['Date'])
    for (const [name, store, ttl] of [
      ['connect-redis', { getTTL, ttl: 5 }, 3_600_000],
      ['an earlier connect-redis', { _getTTL: getTTL }, 3_600_000],
      ['connect-pg-simple', { ttl: 3600, pruneSessions() {} }, 3_600_000],
      ['connect-pg-simple by default', { pruneSessions() {} }, DAY],
      ['connect-mongo', { options: { ttl: 3600 } }, 3_600_000],
      ['one with a longer life than 14 days', { ttl: (30 * DAY) / 1000 }, 30 * DAY],
    ] as const) {
      const { lives, logged } = livesIn(store)
      expect([lives.ttlOf(WITH_BROWSER), lives.ttlOf(expiring(DAY))], name).toEqual([ttl, DAY])
      expect([lives.isKnown(WITH_BROWSER), lives.isKnown(expiring(DAY))]).toEqual([true, true])
      expect([lives.touchInterval(WITH_BROWSER, 30 * DAY), logged]).toEqual([ttl / 10, []])
    }
  })

  it('it is unknown where the store tells nothing of use', () => {
    for (const store of [{}, { disableTTL: true, getTTL: () => 60 }, { getTTL: () => undefined }, { ttl: 0 }]) {
      const { lives } = livesIn(store)
      expect([lives.ttlOf(WITH_BROWSER), lives.isKnown(WITH_BROWSER)]).toEqual([14 * DAY, false])
    }
  })

  it('rule 66: a shorter time of the store wins, with one warning', () => {
    stopClock(['Date'])
    const { lives, logged } = livesIn({ getTTL: () => 3600 })
    expect(lives.ttlOf(expiring(3_604_000)), 'within the tolerance').toBe(3_600_000)
    expect(logged).toEqual([])
    for (const _ of [1, 2]) expect(lives.ttlOf(expiring(DAY))).toBe(3_600_000)
    expect(lives.touchInterval(expiring(DAY), DAY)).toBe(360_000)
    expect(logged).toEqual([aWarning('session-store-shortens-sessions')])
  })

  it('rule 66: an invalid date ends a session only where the store does not keep it', () => {
    const { lives: inRedis } = livesIn({ getTTL: ({ cookie }: typeof INVALID) => Number(cookie.expires) })
    expect([inRedis.ttlOf(INVALID), inRedis.isOver(INVALID)]).toEqual([1, true])
    const { lives: inPostgres } = livesIn({ pruneSessions() {} })
    expect([inPostgres.ttlOf(INVALID), inPostgres.isOver(INVALID)]).toEqual([DAY, false])
  })
})

test('a use that any process has recorded is recent for the interval, unless the life has changed since', () => {
  stopClock(['performance'])
  vi.advanceTimersByTime(DAY)
  const { lives } = livesIn({ getTTL: () => 7200 })
  for (const [what, expected, life, agoMs, ttlMs, touchEveryMs = MINUTE] of [
    ['just now', MINUTE, DAY, 0, DAY],
    ['a moment ago', 20_000, DAY, 40_000, DAY],
    ['too long ago', -20_000, DAY, 80_000, DAY],
    ['just now, and its life is a tenth of that of the session', 5000, 50_000, 0, 50_000],
    ['just now, and measured a little later', MINUTE, DAY, 0, DAY - 900],
    ['with a life that is shorter now', undefined, DAY - 2000, 0, DAY],
    ['with a life that is longer now', undefined, DAY + 2000, 0, DAY],
    ['with the life that the store gives a session without one', MINUTE, null, 0, 7_200_000],
    ['with another life than the store gives it', undefined, null, 0, DAY],
    ['just now, and every use is to be recorded', 0, DAY, 0, DAY, 0],
    ['in the future, by a clock that was set back', undefined, DAY, -1, DAY],
  ] as const) {
    const use = { generation: 0, usedAt: performance.now() - agoMs, ttlMs, takenUp: true }
    const until = lives.freshUntil({ cookie: { originalMaxAge: life } }, use, touchEveryMs)
    expect(until && until - performance.now(), what).toBe(expected)
  }
})

test('a session is served although the lifetimes of its store cannot be read from its stored data', () => {
  const use = { generation: 0, usedAt: performance.now(), ttlMs: 60_000, takenUp: true }
  const getTTL = () => {
    throw new TypeError('expires.getTime is not a function')
  }
  const seen = new SeenSession(7, tokenOf('a'))
  createGuardWorld({ store: Object.assign(new TestStore(), { getTTL }) }).guard.noteRecorded(seen, {}, use)
  expect(seen.freshUntil).toBe(Number.NEGATIVE_INFINITY)
})

const CAPACITY = 20_000

function noteMany(seen: SeenSessions, from: number, to: number): void {
  for (let user = from; user < to; user++) seen.note(`id ${user}`, user, `token ${user}`)
}

describe('the sessions that a process remembers', () => {
  it('have the user in the type that was given; of two users of one id, the last', () => {
    const seen = new SeenSessions(CAPACITY)
    expect(seen.hasSeen).toBe(false)
    seen.note('a', 7, tokenOf('a'))
    seen.noteTouch('a', {}, 60_000)
    for (const same of [7, '7']) seen.note('a', same, tokenOf('a'))
    expect([seen.get('a')?.userId, seen.isFresh('a', {})]).toEqual([7, true])
    const { session } = seen.note('a', 8, tokenOf('a'))
    expect([session, seen.isFresh('a', {})]).toEqual([{ userId: 8, token: tokenOf('a') }, false])
    expect(() => Object.assign(session, { userId: 7 }), 'requests share it').toThrow(TypeError)
    for (const _ of [1, 2]) seen.delete('a')
    seen.noteTouch('a', {}, 60_000)
    for (const name of ['a', '__proto__', 'constructor']) expect(seen.get(name)).toBeUndefined()
    expect(seen.hasSeen).toBe(true)
  })

  it('are as many as it may hold, and the next one takes the place of one that was not used for long', () => {
    const seen = new SeenSessions(CAPACITY)
    for (const _ of [1, 2]) noteMany(seen, 0, CAPACITY)
    expect([seen.get('id 0')?.userId, seen.get(`id ${CAPACITY - 1}`)?.userId]).toEqual([0, CAPACITY - 1])
    // After one turn of all, in which each was used.
    noteMany(seen, CAPACITY, 2 * CAPACITY)
    expect(seen.get('id 0')?.userId).toBe(0)
    noteMany(seen, 3 * CAPACITY, 3 * CAPACITY + 10)
    const users = [0, 1, 10, 3 * CAPACITY + 9].map((user) => seen.get(`id ${user}`)?.userId)
    expect(users).toEqual([0, undefined, 10, 3 * CAPACITY + 9])
    noteMany(seen, 4 * CAPACITY, 8 * CAPACITY)
    const left = Array.from({ length: CAPACITY }, (_, user) => seen.get(`id ${user}`)).filter(Boolean)
    expect(left.length).toBeLessThan(CAPACITY / 10)
  })
})

test('a process tells once a minute how often it remembered the session of a request, whatever the store does', async () => {
  stopClock(['performance'])
  const told: CacheRate[] = []
  const hear = (message: unknown) => void told.push(message as CacheRate)
  subscribe('sessmgr.cache', hear)
  onTestFinished(() => void unsubscribe('sessmgr.cache', hear))
  const one = createGuardWorld()
  await one.signIn('a', 7)
  await one.signIn('b', 8)
  const { guard } = one.twin()
  for (const id of ['visitor', 'a', 'a']) await guard.load(id)
  vi.advanceTimersByTime(59_999)
  await guard.load('a')
  expect([told, await lastCacheRate(one.memory.transients)]).toEqual([[], undefined])
  vi.advanceTimersByTime(1)
  await guard.load('b')
  const rate = { requests: 4, hits: 2, unasked: 0, size: 1, capacity: 20_000 }
  expect([told, await lastCacheRate(one.memory.transients)]).toEqual([[rate], rate])
  vi.spyOn(one.memory.transients, 'set').mockRejectedValue(new Error('down'))
  one.clock.advance(50_000)
  vi.advanceTimersByTime(60_000)
  await guard.touch('b', (await guard.load('b')).data ?? {})
  expect(told.slice(1)).toEqual([{ requests: 1, hits: 1, unasked: 0, size: 2, capacity: 20_000 }])
})
