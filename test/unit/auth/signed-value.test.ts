import { describe, expect, it } from 'vitest'
import { createNonces } from '../../../src/auth/nonce.ts'
import { createSignedValues } from '../../../src/auth/signed-value.ts'
import { tokenOf } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'

const START = Date.UTC(2026, 2, 1)
const MINUTE = 60_000

function site(...given: string[]) {
  const secrets = given.length > 0 ? given : ['a'.repeat(32)]
  const clock = fakeClock(START)
  return { clock, secrets, values: createSignedValues(async () => secrets, clock) }
}

describe('a signed value', () => {
  it('expires, by the clock of the site', async () => {
    const { values, clock } = site()
    const text = await values.sign('notice', 1, MINUTE)
    clock.advance(MINUTE - 1)
    expect(await values.read('notice', text)).toBe(1)
    clock.advance(1)
    expect(await values.read('notice', text)).toBeUndefined()
  })

  it('serves one purpose only', async () => {
    const { values } = site()
    const text = await values.sign('notice', 1, MINUTE)
    expect(await values.read('result', text)).toBeUndefined()
  })

  it('says nothing once any character of it is changed, or cut off', async () => {
    const { values } = site()
    const text = await values.sign('notice', { reason: 'ended' }, MINUTE)
    for (let at = 0; at < text.length; at++) {
      const other = text[at] === 'A' ? 'B' : 'A'
      expect(await values.read('notice', text.slice(0, at) + other + text.slice(at + 1)), `place ${at}`).toBeUndefined()
      expect(await values.read('notice', text.slice(0, at)), `first ${at}`).toBeUndefined()
    }
  })

  it('is read up to 4096 characters, the most that a browser keeps', async () => {
    const { values, clock } = site()
    const around = JSON.stringify([clock.now() + MINUTE, '']).length
    const value = 'x'.repeat(3047 - around)
    const longest = await values.sign('notice', value, MINUTE)
    expect(longest).toHaveLength(4096)
    expect(await values.read('notice', longest)).toBe(value)
    expect(await values.read('notice', await values.sign('notice', `${value}x`, MINUTE))).toBeUndefined()
  })

  it('says nothing as any other text', async () => {
    for (const text of [undefined, '', '.', '{}', 'a.b', `${'a'.repeat(5000)}.${'b'.repeat(32)}`, '__proto__']) {
      expect(await site().values.read('notice', text), text).toBeUndefined()
    }
  })

  it('is signed with the newest secret, and valid until its own is removed', async () => {
    const { values, secrets } = site('old'.repeat(12))
    const before = await values.sign('notice', 1, MINUTE)
    secrets.unshift('new'.repeat(12))
    expect(await values.read('notice', before)).toBe(1)
    const after = await values.sign('notice', 2, MINUTE)
    secrets.pop()
    expect(await values.read('notice', before)).toBeUndefined()
    expect(await values.read('notice', after)).toBe(2)
  })

  it('is not a nonce with the same words', async () => {
    const { values, secrets, clock } = site()
    const subject = { userId: 1, token: tokenOf('a session'), action: 'rest' }
    const nonce = await createNonces(async () => secrets, clock).create(subject)
    const content = Buffer.from(JSON.stringify([clock.now() + MINUTE, 1])).toString('base64url')
    expect(await values.read('rest', `${content}.${nonce}`)).toBeUndefined()
  })
})
