import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest'
import type { HostCookie } from '../../../src/guard/host-types.ts'
import { expiryOf, lifeOf, sessionTtl, touchInterval } from '../../../src/guard/session-ttl.ts'

const NOW = 1_700_000_000_000
const FOURTEEN_DAYS = 14 * 24 * 60 * 60_000

describe('sessionTtl', () => {
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
  expect([expiryOf({ _expire: 5 }), expiryOf({ _expire: 5, cookie: { expires: 'soon' } })]).toEqual([5, 'soon'])
  expect([lifeOf({ _maxAge: 5 }), lifeOf({ _maxAge: 5, cookie: { originalMaxAge: 6 } })]).toEqual([5, 6])
})

test.each([null, undefined, '5000'])('a life of %j is none', (originalMaxAge) => {
  expect(lifeOf({ cookie: { originalMaxAge } as HostCookie })).toBeUndefined()
})
