import { describe, expect, it } from 'vitest'
import { requireUserId } from '../../../src/ground/require-user-id.ts'

describe('requireUserId', () => {
  it.each(['a', '0', 0, -1, Number.MAX_SAFE_INTEGER])('takes %j', (id) => {
    expect(() => requireUserId(id)).not.toThrow()
  })

  it.each([
    [undefined, 'undefined was given'],
    [null, 'null was given'],
    ['', "the text '' was given"],
    ['\ud800', 'must be valid Unicode'],
    [1.5, '1.5 was given'],
    [2 ** 53, '9007199254740992 was given'],
    [{ id: 1 }, 'an object was given'],
    [[1], 'an array was given'],
  ])('refuses %j, and says what to pass', (id, words) => {
    expect(() => requireUserId(id)).toThrow(
      expect.objectContaining({ code: 'user_id_missing', message: expect.stringContaining(words) }),
    )
  })
})
