import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { endedDespite, noteEnded } from '../../../src/sessions/session-end.ts'
import { type StoredSession, TOKEN_PATTERN, TOKEN_SESSION, tokenOf } from '../../../src/sessions/session-record.ts'

it('a token is the SHA-256 of a session id, in 64 hexadecimal digits', () => {
  expect(tokenOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  const token = tokenOf('abc')
  expect(token).toMatch(TOKEN_PATTERN)
  for (const other of [`x${token}`, `${token}x`, token.slice(1), token.toUpperCase()]) {
    expect(other).not.toMatch(TOKEN_PATTERN)
  }
})

it('the id of a session of tokens has 22 characters behind its prefix', () => {
  const id = `jwt_${'aZ9_-'.repeat(5).slice(0, 22)}`
  expect(TOKEN_SESSION.test(id)).toBe(true)
  for (const other of [`x${id}`, `${id}x`, id.slice(0, -1), `${id.slice(0, -1)}.`]) {
    expect(TOKEN_SESSION.test(other)).toBe(false)
  }
})

const ended = [{ sessionId: 'secret-id' }] as unknown as readonly StoredSession[]

it('an error of a call that has ended sessions names them to the limiter alone, and to no log', () => {
  const error = noteEnded(new Error('no replica has confirmed it'), ended)
  expect(endedDespite(error)).toBe(ended)
  expect(inspect(error) + JSON.stringify(error)).not.toContain('secret-id')
})
