import { expect, it } from 'vitest'
import { TOKEN_PATTERN, tokenOf } from '../../../src/sessions/session-record.ts'

it('a token is the SHA-256 of a session id, in 64 hexadecimal digits', () => {
  expect(tokenOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(tokenOf('abc')).toMatch(TOKEN_PATTERN)
})

it.each([
  ['a sign before it', (token: string) => `x${token}`],
  ['a sign behind it', (token: string) => `${token}x`],
  ['a digit less', (token: string) => token.slice(1)],
  ['capital letters', (token: string) => token.toUpperCase()],
])('no token has %s', (_what, change) => {
  expect(change(tokenOf('abc'))).not.toMatch(TOKEN_PATTERN)
})
