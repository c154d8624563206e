import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../../../../src/index.ts'
import {
  decodeLife,
  decodeSession,
  decodeUserAgent,
  encodeSession,
  encodeTtl,
  encodeUserAgent,
  fieldName,
} from '../../../../../src/stores/redis/registry/session-codec.ts'
import { rounds } from '../../../../support/rounds.ts'

const RUNS = { numRuns: rounds(200) }
/** Any text that UTF-8 can carry. */
const text = (minLength: number) => fc.string({ unit: 'binary', minLength, maxLength: 80 })
const milliseconds = fc.integer({ min: 1, max: 2 ** 45 })
const session = fc.record({
  sessionId: text(1),
  ttlMs: milliseconds,
  ip: fc.option(fc.oneof(fc.ipV4(), fc.ipV6(), text(1))),
  userAgent: fc.option(fc.oneof(text(0), fc.constantFrom('Mozilla/5.0', '0', '1', '1abc', 'a, b'))),
  device: fc.option(fc.string({ unit: fc.constantFrom('A', 'z', '0', '-', '_'), minLength: 16, maxLength: 16 })),
  generation: fc.integer({ min: 0, max: 2 ** 45 }),
})
const userId = fc.oneof(fc.integer({ min: 0 }), text(1))
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

/** Puts a value together as lua/registry/slot.lua does. */
const stored = (admitted: number, seen: number, ttl: string, rest: string) =>
  [admitted.toString(16), seen.toString(16), ttl, rest].join(',')

describe('a session in Redis', () => {
  it('comes back as it was, whatever is in its id, address and user agent', () => {
    const property = fc.property(userId, session, milliseconds, milliseconds, (user, given, admitted, seen) => {
      const [name = '', ttl = '', rest = '', info = ''] = encodeSession(user, given)
      const value = stored(admitted, seen, ttl, rest)
      const token = tokenOf(given.sessionId)
      expect(name).toBe(fieldName(token))
      expect(decodeLife(value)).toEqual({
        token,
        lastSeenAt: admitted + seen,
        expiresAt: admitted + seen + given.ttlMs,
        generation: given.generation,
      })
      expect(decodeSession(user, value, info)).toEqual({
        sessionId: given.sessionId,
        record: {
          token,
          userId: user,
          sequence: admitted,
          createdAt: admitted,
          lastSeenAt: admitted + seen,
          expiresAt: admitted + seen + given.ttlMs,
          ip: given.ip,
          userAgent: given.userAgent,
          device: given.device,
          generation: given.generation,
        },
      })
    })
    fc.assert(property, RUNS)
  })

  const info = { ttlMs: 1000, ip: null, userAgent: null, device: null, generation: 0 }
  for (const sessionId of ['a,b', ',', ',,n', 's', 'n1', 'a b', 'a\nb', 'ünï', '::ffff:1', '\0']) {
    it(`keeps the id ${JSON.stringify(sessionId)}`, () => {
      const [, ttl = '', rest = '', about = ''] = encodeSession(7, { ...info, sessionId })
      expect(decodeSession(7, stored(1, 0, ttl, rest), about)?.sessionId).toBe(sessionId)
    })
  }

  it('keeps the type of the user id', () => {
    for (const user of [12, '12', 'alice']) {
      const [, ttl = '', rest = '', about = ''] = encodeSession(user, { ...info, sessionId: 'x' })
      // Whoever reads may have the id in the other type.
      expect(decodeSession(String(user), stored(1, 0, ttl, rest), about)?.record.userId).toBe(user)
    }
  })

  it('is without address and user agent when that part of it is gone', () => {
    const [, ttl = '', rest = ''] = encodeSession(7, { ...info, sessionId: 'x', ip: '192.0.2.1', userAgent: 'y' })
    expect(decodeSession(7, stored(1, 0, ttl, rest), '')?.record).toMatchObject({
      ip: null,
      userAgent: null,
      device: null,
    })
  })

  it.each(['', 'garbage', '1,2,3', '1,2,3,4', '1,2,3,x4sid', ',,,0sid', '1,2,3,4x', 'g,0,1,0sid'])(
    'is none when it is damaged: %j',
    (value) => {
      expect([decodeLife(value), decodeSession(1, value, '')]).toEqual([undefined, undefined])
    },
  )

  it('has a name of eleven characters, which tells it from every other field', () => {
    fc.assert(
      fc.property(text(1), (sessionId) => /^[\w-]{11}$/.test(fieldName(tokenOf(sessionId)))),
      RUNS,
    )
  })

  it('lives a whole number of milliseconds, at least one', () => {
    expect([-5, 0, 0.2, 1, 15.6, 16].map(encodeTtl)).toEqual(['1', '1', '1', '1', '10', '10'])
  })
})

describe('a user agent in Redis', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(fc.oneof(text(0), fc.string({ maxLength: 512 })), (userAgent) => {
        expect(decodeUserAgent(encodeUserAgent(userAgent))).toBe(userAgent)
      }),
      RUNS,
    )
  })

  it('is a third as long when it is one of a browser, and at most one character longer when it is not', () => {
    expect(encodeUserAgent(CHROME).length).toBeLessThan(CHROME.length / 3)
    fc.assert(
      fc.property(text(0), (userAgent) => {
        expect(encodeUserAgent(userAgent).length).toBeLessThanOrEqual(userAgent.length + 1)
      }),
      RUNS,
    )
  })

  // Written when the dictionary was first in use. It lies in users' databases: never change a line of this.
  const WRITTEN = [
    [CHROME, '1o5l1JobYrAMA'],
    ['Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0', '1o25mBQA'],
    ['Mozilla/5.0 (Android 14; Mobile; rv:128.0) Gecko/128.0 Firefox/128.0', '1o0b2AgA'],
    ['Opera/OPR/ Vivaldi/SamsungBrowser/ CriOS/FxiOS/', '18yetfAAA'],
    ['curl/8.5.0', '0curl/8.5.0'],
  ] as const
  for (const [userAgent, encoded] of WRITTEN) {
    it(`is read as it was written long ago: ${userAgent}`, () => expect(decodeUserAgent(encoded)).toBe(userAgent))
  }
})
