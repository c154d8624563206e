import { expect, it } from 'vitest'
import { decodeEnds, encodeEnds } from '../../../../src/limiter/ending/end-signal.ts'

const token = (index: number) => index.toString(16).padStart(64, '0')

it('encodes the ends of 1,000 sessions in messages that a store may pass on, and decodes them again', () => {
  const tokens = Array.from({ length: 1000 }, (_, index) => token(index))
  const messages = encodeEnds({ kind: 'app', tokens })
  expect(messages).toHaveLength(10)
  expect(Math.max(...messages.map(({ length }) => length))).toBeLessThanOrEqual(7000)
  expect(messages.flatMap((message) => decodeEnds(message)?.tokens)).toEqual(tokens)
})

it('encodes a site-wide logout without tokens', () => {
  const all = { kind: 'logout_all', tokens: undefined } as const
  expect(encodeEnds(all).map(decodeEnds)).toEqual([all])
  expect(decodeEnds(`1 of_a_newer_release ${token(1)}`)).toEqual({ kind: 'of_a_newer_release', tokens: [token(1)] })
})

it('decodes nothing that it has not encoded', () => {
  const one = token(1)
  const unknown = ['', '1', '1 app', `2 app ${one}`, `1 <b> ${one}`, '1 app short', `1 toString ${one}`]
  for (const message of unknown) expect(decodeEnds(message), message).toBeUndefined()
})
