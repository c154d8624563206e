import { expect, it } from 'vitest'
import { TOKEN_PATTERN, TOKEN_SESSION, tokenOf } from '../../../src/sessions/session-record.ts'

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

it('the id of a session of tokens has 22 characters behind its prefix', () => {
  const id = `jwt_${'aZ9_-'.repeat(5).slice(0, 22)}`
  expect(TOKEN_SESSION.test(id)).toBe(true)
  for (const other of [`x${id}`, `${id}x`, id.slice(0, -1), `${id.slice(0, -1)}.`]) {
    expect(TOKEN_SESSION.test(other)).toBe(false)
  }
})
