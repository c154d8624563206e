import { describe, expect, it } from 'vitest'
import { isUserId, requireUserId } from '../../../src/ground/user-id.ts'

describe('a user id', () => {
  it.each([0, 1, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, '0', 'u-1', ' ', '{7}', '\u{1f600}'])(
    'may be %j',
    (id) => {
      expect(isUserId(id)).toBe(true)
    },
  )

  it.each([
    '',
    '\ud800',
    'a\udc00b',
    1.5,
    2 ** 53,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
    undefined,
    true,
    1n,
    Symbol('id'),
    {},
    [],
    [1],
    new Number(1),
    new String('a'),
    () => 1,
  ])('is not %s', (value) => {
    expect(isUserId(value)).toBe(false)
  })
})

describe('requireUserId', () => {
  it.each(['a', '0', 0, -1, Number.MAX_SAFE_INTEGER])('takes %j', (id) => {
    expect(() => requireUserId(id)).not.toThrow()
  })

  it.each([
    [undefined, 'got undefined. Check that the user is signed in'],
    [null, 'got null. Check that the user is signed in'],
    ['', "got the string ''"],
    ['\ud800', 'must be valid Unicode'],
    [1.5, 'got 1.5. Pass the id as your application stores it.'],
    [2 ** 53, 'got 9007199254740992'],
    [{ id: 1 }, 'got an object. Pass user.id instead of user.'],
    [Promise.resolve(1), 'Write await before the call that returns it.'],
    [[1], 'got an array'],
  ])('refuses %j, and says what to pass', (id, words) => {
    expect(() => requireUserId(id)).toThrow(
      expect.objectContaining({ code: 'user_id_missing', message: expect.stringContaining(words) }),
    )
  })
})
