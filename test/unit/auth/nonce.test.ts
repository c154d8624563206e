import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createNonces, type NonceSubject } from '../../../src/auth/nonce.ts'
import { tokenOf } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'

const HOUR = 60 * 60_000
const TICK = 12 * HOUR
const subject: NonceSubject = { userId: 1, token: tokenOf('a session'), action: 'rest' }
const secret = 'a'.repeat(32)
/** A moment at which a half-day begins. */
const MIDNIGHT = Date.UTC(2026, 2, 1)

function noncesAt(start: number, ...secrets: string[]) {
  const clock = fakeClock(start)
  const held = secrets.length > 0 ? secrets : [secret]
  return { clock, held, nonces: createNonces(async () => held, clock) }
}

describe('a nonce', () => {
  it('is the same within a half-day, and another one in the next', async () => {
    const { nonces, clock } = noncesAt(MIDNIGHT)
    const first = await nonces.create(subject)
    clock.advance(TICK - 1)
    expect(await nonces.create(subject)).toBe(first)
    clock.advance(1)
    expect(await nonces.create(subject)).not.toBe(first)
  })

  it('made at any moment of a half-day is good for 12 hours always, after 24 never', async () => {
    for (const offset of [0, 1, 6 * HOUR, TICK - 1, 42_479_587]) {
      for (const start of [MIDNIGHT + offset, MIDNIGHT + TICK + offset]) {
        const { nonces, clock } = noncesAt(start)
        const nonce = await nonces.create(subject)
        expect(await nonces.verify(nonce, subject)).toBe(true)
        clock.advance(TICK)
        expect(await nonces.verify(nonce, subject), '12 h').toBe(true)
        clock.advance(TICK - 1 - (offset % TICK))
        expect(await nonces.verify(nonce, subject), 'the last moment of the second half-day').toBe(true)
        clock.advance(1)
        expect(await nonces.verify(nonce, subject), 'the third half-day').toBe(false)
        clock.advance(offset % TICK)
        expect(await nonces.verify(nonce, subject), '24 h').toBe(false)
      }
    }
  })

  it('of a later half-day is refused: a clock that was set back accepts nothing from the future', async () => {
    const { nonces, clock } = noncesAt(MIDNIGHT)
    const nonce = await nonces.create(subject)
    clock.advance(-1)
    expect(await nonces.verify(nonce, subject)).toBe(false)
  })

  it('tells no two subjects alike, whatever their parts are', async () => {
    const { nonces } = noncesAt(MIDNIGHT)
    const text = fc.oneof(fc.constantFrom('', '1', '"', ',', '","', '\\', '1","1'), fc.string({ maxLength: 4 }))
    const parts = fc.record({ userId: text, token: text, action: text })
    await fc.assert(
      fc.asyncProperty(parts, parts, async (one, two) => {
        const equal = one.userId === two.userId && one.token === two.token && one.action === two.action
        expect(await nonces.verify(await nonces.create(one), two)).toBe(equal)
      }),
      { numRuns: 100 },
    )
  })
})

describe('a nonce that somebody has changed', () => {
  it('is refused in every spelling but its own, and cut, doubled or empty', async () => {
    // Bytes of which base64 has a second spelling, and so the other alphabet another one.
    const { nonces } = noncesAt(MIDNIGHT)
    let userId = 1
    let good = ''
    while (!/[-_]/.test(good)) good = await nonces.create({ ...subject, userId: ++userId })
    const standard = good.replaceAll('-', '+').replaceAll('_', '/')
    const spellings = [
      standard,
      `${good}=`,
      `${good}==`,
      `${standard}====`,
      ` ${good}`,
      `${good}\n`,
      `${good.slice(0, 8)}*${good.slice(8)}`,
      `${good}A`,
      good.slice(0, -1),
      good.slice(1),
      good + good,
      '',
      'undefined',
      Buffer.from(good, 'base64url').toString('hex'),
    ]
    for (const bad of spellings) expect(await nonces.verify(bad, { ...subject, userId }), bad).toBe(false)
    expect(await nonces.verify(good, { ...subject, userId })).toBe(true)
  })
})

describe('the secrets', () => {
  const [older, newer] = ['o'.repeat(32), 'n'.repeat(32)]

  it('rotate: the first one signs, all are accepted, and one that was taken out no longer', async () => {
    const { nonces, held } = noncesAt(MIDNIGHT, older)
    const before = await nonces.create(subject)
    held.unshift(newer)
    const after = await nonces.create(subject)
    expect(after).not.toBe(before)
    expect(await nonces.verify(before, subject)).toBe(true)
    expect(await nonces.verify(after, subject)).toBe(true)
    held.pop()
    expect(await nonces.verify(before, subject)).toBe(false)
    expect(await nonces.verify(after, subject)).toBe(true)
  })
})
