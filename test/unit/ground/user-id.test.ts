import { expect, it } from 'vitest'
import { isUserId, requireUserId } from '../../../src/ground/user-id.ts'

const { MAX_SAFE_INTEGER, MIN_SAFE_INTEGER } = Number

it('a user id is a whole number or a text that is not empty and valid Unicode', () => {
  for (const id of [0, -1, MAX_SAFE_INTEGER, MIN_SAFE_INTEGER, '0', 'u-1', ' ', '{7}', '\u{1f600}']) {
    expect(isUserId(id), String(id)).toBe(true)
    expect(() => requireUserId(id)).not.toThrow()
  }
  const objects = [null, undefined, true, 1n, Symbol('id'), {}, [1], new Number(1), new String('a'), () => 1]
  for (const value of ['', '\ud800', 'a\udc00b', 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, ...objects]) {
    expect(isUserId(value), String(value)).toBe(false)
  }
})

it('what is none is refused, and the message says what to pass', () => {
  for (const [id, words] of [
    [undefined, 'got undefined. Check that the user is signed in'],
    [null, 'got null. Check that the user is signed in'],
    ['', "got the string ''"],
    ['\ud800', 'must be valid Unicode'],
    [1.5, 'got 1.5. Pass the id as your application stores it.'],
    [2 ** 53, 'got 9007199254740992'],
    [{ id: 1 }, 'got an object. Pass user.id instead of user.'],
    [Promise.resolve(1), 'Write await before the call that returns it.'],
    [[1], 'got an array'],
  ] as const) {
    const error = { code: 'user_id_missing', message: expect.stringContaining(words) }
    expect(() => requireUserId(id)).toThrow(expect.objectContaining(error))
  }
})
