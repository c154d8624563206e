import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, test, vi } from 'vitest'
import type { HostCookie } from '../../../../src/door/host-types.ts'
import {
  type CacheRate,
  cookieTtl,
  lastCacheRate,
  lifeOf,
  SeenSessions,
  SessionLives,
} from '../../../../src/door/sessions/session-lives.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { aWarning } from '../../../support/a-warning.ts'
import { createGuardWorld } from '../../../support/guard-world.ts'

const NOW = 1_700_000_000_000
const DAY = 24 * 60 * 60_000
const FOURTEEN_DAYS = 14 * DAY

/** The lives in a store, and what was logged about them. */
function livesIn(store: object) {
  const logged: string[] = []
  const warn = (message: string) => void logged.push(message)
  return { lives: new SessionLives(store, { warn, error: warn }), logged }
}

const { lives } = livesIn({})
const sessionTtl = lives.ttlOf.bind(lives)
const touchInterval = lives.touchInterval.bind(lives)

describe('the time until a session expires', () => {
  beforeEach(() => void vi.useFakeTimers({ now: NOW }))
  afterEach(() => void vi.useRealTimers())

  it('is the time until the cookie expires, given as a date or as the store keeps it', () => {
    const expires = new Date(NOW + 5000)
    expect(sessionTtl({ cookie: { expires } })).toBe(5000)
    expect(sessionTtl({ cookie: { expires: expires.toISOString() } })).toBe(5000)
  })

  it('is 1 ms for a cookie that has expired', () => {
    for (const past of [NOW, NOW - 1, NOW - 5000]) expect(sessionTtl({ cookie: { expires: new Date(past) } })).toBe(1)
  })

  it('is 14 days for a cookie that ends with the browser', () => {
    expect(sessionTtl({})).toBe(FOURTEEN_DAYS)
    expect(sessionTtl({ cookie: {} })).toBe(FOURTEEN_DAYS)
    expect(sessionTtl({ cookie: { expires: null } })).toBe(FOURTEEN_DAYS)
  })

  it('is a number also for a date that cannot be read', () => {
    expect(sessionTtl({ cookie: { expires: 'soon' } })).toBe(FOURTEEN_DAYS)
    expect(sessionTtl({ cookie: { expires: new Date(Number.NaN) } })).toBe(FOURTEEN_DAYS)
  })
})

describe('in a store that tells its own lifetime', () => {
  beforeEach(() => void vi.useFakeTimers({ now: NOW }))
  afterEach(() => void vi.useRealTimers())

  const inADay = { cookie: { expires: new Date(NOW + DAY), originalMaxAge: DAY } }
  const withBrowser = { cookie: { expires: null, originalMaxAge: null } }

  it.each([
    ['connect-redis', { getTTL: ({ cookie }: { cookie: HostCookie }) => (cookie.expires ? 86_400 : 3600), ttl: 5 }],
    ['an earlier connect-redis', { _getTTL: ({ cookie }: { cookie: HostCookie }) => (cookie.expires ? 86_400 : 3600) }],
    ['connect-pg-simple', { ttl: 3600, pruneSessions() {} }],
    ['connect-mongo', { options: { ttl: 3600 } }],
  ])('rule 66: a cookie that ends with the browser has the time of %s', (_name, store) => {
    const { lives, logged } = livesIn(store)
    expect([lives.ttlOf(withBrowser), lives.ttlOf(inADay)]).toEqual([3_600_000, DAY])
    expect([lives.isKnown(withBrowser), lives.isKnown(inADay)]).toEqual([true, true])
    expect(lives.touchInterval(withBrowser, 2 * DAY)).toBe(360_000)
    expect(logged).toEqual([])
  })

  it('is also more than 14 days, if the store keeps such sessions longer', () => {
    const { lives } = livesIn({ ttl: (30 * DAY) / 1000 })
    expect(lives.ttlOf(withBrowser)).toBe(30 * DAY)
    expect(lives.touchInterval(withBrowser, 30 * DAY)).toBe(3 * DAY)
  })

  it('is a day in connect-pg-simple by default', () => {
    expect(livesIn({ pruneSessions() {} }).lives.ttlOf(withBrowser)).toBe(DAY)
  })

  it.each([{}, { disableTTL: true, getTTL: () => 60 }, { getTTL: () => undefined }, { ttl: 'long' }, { ttl: 0 }])(
    'is 14 days in a store such as %o',
    (store) => {
      const { lives } = livesIn(store)
      expect(lives.ttlOf(withBrowser)).toBe(FOURTEEN_DAYS)
      expect(lives.isKnown(withBrowser)).toBe(false)
    },
  )

  it('rule 66: a shorter time of the store wins, with one warning', () => {
    const { lives, logged } = livesIn({ getTTL: () => 3600 })
    for (const _ of [1, 2]) expect(lives.ttlOf(inADay)).toBe(3_600_000)
    expect(lives.touchInterval(inADay, DAY)).toBe(360_000)
    expect(logged).toEqual([aWarning('session-store-shortens-sessions')])
  })
})

test('rule 66: a session is over from its expiry on', () => {
  const isOver = (life: number) => lives.isOver({ cookie: { expires: new Date(Date.now() + life) } })
  expect([isOver(0), isOver(-1), isOver(60_000)]).toEqual([true, true, false])
  expect(lives.isOver({ cookie: { expires: null } })).toBe(false)
})

test('rule 66: an invalid date ends a session only in a store that does not keep it', () => {
  const invalid = { cookie: { expires: new Date(Number.NaN), originalMaxAge: Number.NaN } }
  const { lives: inRedis } = livesIn({ getTTL: ({ cookie }: typeof invalid) => Number(cookie.expires) })
  expect([inRedis.ttlOf(invalid), inRedis.isOver(invalid)]).toEqual([1, true])
  expect([lives.isOver(invalid), lifeOf(invalid)]).toEqual([false, undefined])
  expect(livesIn({ pruneSessions() {} }).lives.ttlOf(invalid)).toBe(DAY)
})

describe('touchInterval', () => {
  it('is what the application asks for, while that is no more than a tenth of the life of the session', () => {
    expect(touchInterval({ cookie: { originalMaxAge: 600_000 } }, 60_000)).toBe(60_000)
    expect(touchInterval({ cookie: { originalMaxAge: 600_000 } }, 0)).toBe(0)
  })

  it('is a tenth of the life of a short session', () => {
    expect(touchInterval({ cookie: { originalMaxAge: 5000 } }, 60_000)).toBe(500)
  })

  it('is what the application asks for when the cookie ends with the browser', () => {
    expect(touchInterval({ cookie: { originalMaxAge: null } }, 3_600_000)).toBe(3_600_000)
    expect(touchInterval({}, 60_000)).toBe(60_000)
  })
})

test("the fields of Koa's sessions stand for those of a cookie, which come first", () => {
  expect(cookieTtl({ _expire: 5 })).toBeLessThan(0)
  expect(cookieTtl({ _expire: 5, cookie: { expires: 'soon' } })).toBeUndefined()
  expect([lifeOf({ _maxAge: 5 }), lifeOf({ _maxAge: 5, cookie: { originalMaxAge: 6 } })]).toEqual([5, 6])
})

test.each([null, undefined, '5000'])('a life of %j is none', (originalMaxAge) => {
  expect(lifeOf({ cookie: { originalMaxAge } as HostCookie })).toBeUndefined()
})

describe('a use that the registry has recorded for any process', () => {
  const MINUTE = 60_000
  const ownLife = livesIn({ getTTL: () => 7200 }).lives
  const cookie = (originalMaxAge: number | null) => ({ cookie: { originalMaxAge } as HostCookie })
  const freshFor = (data: ReturnType<typeof cookie>, agoMs: number, ttlMs: number, touchEveryMs = MINUTE) => {
    vi.useFakeTimers({ toFake: ['performance'], now: DAY })
    vi.advanceTimersByTime(DAY)
    const now = performance.now()
    const until = ownLife.freshUntil(data, { generation: 0, usedAt: now - agoMs, ttlMs, takenUp: true }, touchEveryMs)
    vi.useRealTimers()
    return until && until - now
  }

  it.each<[string, number | undefined, number | null, number, number, number?]>([
    ['just now', MINUTE, DAY, 0, DAY],
    ['a moment ago', 20_000, DAY, 40_000, DAY],
    ['too long ago', -20_000, DAY, 80_000, DAY],
    ['just now, and its life is a tenth of that of the session', 5000, 50_000, 0, 50_000],
    ['just now, and measured a little later', MINUTE, DAY, 0, DAY - 900],
    ['with another life, which is shorter now', undefined, DAY - 2000, 0, DAY],
    ['with another life, which is longer now', undefined, DAY + 2000, 0, DAY],
    ['with the two minutes of a login that was never confirmed', undefined, DAY, 0, 120_000],
    ['with the life that the store gives a session without one', MINUTE, null, 0, 7_200_000],
    ['with another life than the store gives it', undefined, null, 0, DAY],
    ['just now, and every use is to be recorded', 0, DAY, 0, DAY, 0],
    ['in the future, by a clock that was set back', undefined, DAY, -1, DAY],
  ])('%s, is recent for %j ms more', (_, expected, life, agoMs, ttlMs, touchEveryMs) => {
    expect(freshFor(cookie(life), agoMs, ttlMs, touchEveryMs)).toBe(expected)
  })
})

const CAPACITY = 20_000

function noteMany(seen: SeenSessions, from: number, to: number): void {
  for (let user = from; user < to; user++) seen.note(`id ${user}`, user, `token ${user}`)
}

describe('SeenSessions', () => {
  it('remembers the user of a session, in the type that was given, and the token', () => {
    const seen = new SeenSessions(20_000)
    seen.note('a', 7, tokenOf('a'))
    seen.note('b', '7', tokenOf('b'))
    expect(seen.get('a')).toMatchObject({ userId: 7, token: tokenOf('a') })
    expect(seen.get('b')).toMatchObject({ userId: '7', token: tokenOf('b') })
    expect(seen.get('c')).toBeUndefined()
  })

  it('remembers the last of two users of one id, and nothing of the first', () => {
    const seen = new SeenSessions(20_000)
    seen.note('a', 7, tokenOf('a'))
    seen.noteTouch('a', {}, 60_000)
    seen.note('a', 8, tokenOf('a'))
    expect(seen.get('a')).toMatchObject({ userId: 8, session: { userId: 8, token: tokenOf('a') } })
    expect(seen.isFresh('a', {})).toBe(false)
  })

  it('takes a session that it sees for the first time for one whose use was never noted', () => {
    const seen = new SeenSessions(20_000)
    seen.note('a', 7, tokenOf('a'))
    expect(seen.isFresh('a', {})).toBe(false)
  })

  it('keeps when the use of a session was noted while the session is seen again', () => {
    const seen = new SeenSessions(20_000)
    seen.note('a', 7, tokenOf('a'))
    seen.noteTouch('a', {}, 60_000)
    for (const same of [7, '7']) seen.note('a', same, tokenOf('a'))
    expect(seen.isFresh('a', {})).toBe(true)
  })

  it('notices another life of a session once its use was noted', () => {
    const seen = new SeenSessions(20_000)
    const [hour, day] = [{ cookie: { originalMaxAge: 3_600_000 } }, { cookie: { originalMaxAge: DAY } }]
    seen.note('a', 7, tokenOf('a'))
    expect(seen.hasOtherLife('a', day)).toBe(false)
    seen.noteTouch('a', hour, 60_000)
    expect([seen.hasOtherLife('a', hour), seen.hasOtherLife('a', day), seen.hasOtherLife('b', day)]).toEqual([
      false,
      true,
      false,
    ])
  })

  it('shows requests one object that they cannot change', () => {
    const seen = new SeenSessions(20_000)
    seen.note('a', 7, tokenOf('a'))
    const { session } = seen.get('a') ?? {}
    expect(session).toEqual({ userId: 7, token: tokenOf('a') })
    expect(() => Object.assign(session ?? {}, { userId: 8 })).toThrow(TypeError)
  })

  it('forgets a session on demand, and an unknown one without complaint', () => {
    const seen = new SeenSessions(20_000)
    seen.note('a', 7, tokenOf('a'))
    seen.delete('a')
    seen.delete('a')
    expect(seen.get('a')).toBeUndefined()
  })

  it('knows nothing of names that every object has', () => {
    const seen = new SeenSessions(20_000)
    for (const name of ['__proto__', 'constructor', 'toString']) expect(seen.get(name)).toBeUndefined()
  })

  it('holds 20,000 sessions, and forgets the oldest for the next, but none that was used', () => {
    const seen = new SeenSessions(20_000)
    noteMany(seen, 0, CAPACITY)
    // After one turn of all, in which each was used.
    noteMany(seen, CAPACITY, 2 * CAPACITY)
    expect(seen.get('id 0')?.userId).toBe(0)
    noteMany(seen, 3 * CAPACITY, 3 * CAPACITY + 10)
    const users = [0, 1, 10, 3 * CAPACITY + 9].map((user) => seen.get(`id ${user}`)?.userId)
    expect(users).toEqual([0, undefined, 10, 3 * CAPACITY + 9])
  })

  it('finds most sessions of more than it holds, if all are used in turn', () => {
    const seen = new SeenSessions(1000)
    let found = 0
    for (let round = 0; round < 10; round++) {
      for (let user = 0; user < 1200; user++) {
        if (seen.get(`id ${user}`) && round >= 5) found += 1
        noteMany(seen, user, user + 1)
      }
    }
    expect(found / (5 * 1200)).toBeGreaterThan(0.8)
    expect(seen.size).toBeLessThanOrEqual(1050)
  })

  it('forgets sessions that nobody uses any more', () => {
    const seen = new SeenSessions(1000)
    for (let round = 0; round < 2; round++) noteMany(seen, 0, 1000)
    for (let round = 0; round < 10; round++) noteMany(seen, 1000, 2000)
    const left = Array.from({ length: 1000 }, (_, user) => seen.get(`id ${user}`)).filter(Boolean)
    expect(left.length).toBeLessThan(100)
  })

  it('forgets nothing when all that it holds is seen again', () => {
    const seen = new SeenSessions(20_000)
    noteMany(seen, 0, CAPACITY)
    noteMany(seen, 0, CAPACITY)
    expect([seen.get('id 0')?.userId, seen.get(`id ${CAPACITY - 1}`)?.userId]).toEqual([0, CAPACITY - 1])
  })

  it('knows whether it has ever seen one', () => {
    const seen = new SeenSessions(20_000)
    expect(seen.hasSeen).toBe(false)
    seen.note('a', 7, tokenOf('a'))
    seen.delete('a')
    expect(seen.hasSeen).toBe(true)
  })

  it('takes no note of the use of a session that it does not know', () => {
    const seen = new SeenSessions(20_000)
    seen.noteTouch('a', {}, 60_000)
    expect(seen.get('a')).toBeUndefined()
  })
})

describe('the rate of the memory', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('a process tells once a minute how often it remembered the session of a request', async () => {
    const told: CacheRate[] = []
    const hear = (message: unknown) => void told.push(message as CacheRate)
    subscribe('sessmgr.cache', hear)
    onTestFinished(() => void unsubscribe('sessmgr.cache', hear))
    const one = createGuardWorld()
    await one.signIn('a', 7)
    await one.signIn('b', 8)
    const other = one.twin()
    await other.guard.load('visitor')
    await other.guard.load('a')
    await other.guard.load('a')
    vi.advanceTimersByTime(59_999)
    await other.guard.load('a')
    expect([told, await lastCacheRate(one.memory.transients)]).toEqual([[], undefined])
    vi.advanceTimersByTime(1)
    await other.guard.load('b')
    const rate = { requests: 4, hits: 2, unasked: 0, size: 1, capacity: 20_000 }
    expect([told, await lastCacheRate(one.memory.transients)]).toEqual([[rate], rate])
    one.clock.advance(50_000)
    vi.advanceTimersByTime(60_000)
    await other.guard.touch('b', (await other.guard.load('b')).data ?? {})
    expect(told.slice(1)).toEqual([{ requests: 1, hits: 1, unasked: 0, size: 2, capacity: 20_000 }])
  })

  it('a request that the store fails is served, and the next minute is told again', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    vi.spyOn(world.memory.transients, 'set').mockRejectedValue(new Error('down'))
    vi.advanceTimersByTime(60_000)
    expect(await world.twin().guard.load('a')).toMatchObject({ session: { userId: 7 } })
    vi.advanceTimersByTime(60_000)
    expect(await world.twin().guard.load('a')).toMatchObject({ session: { userId: 7 } })
  })
})
