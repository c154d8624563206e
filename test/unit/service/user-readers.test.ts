import { describe, expect, it } from 'vitest'
import { resolveOptions } from '../../../src/service/resolve-options.ts'
import { aWarning } from '../../support/a-warning.ts'

describe('the id of a user', () => {
  it('is id, _id or userId of the user, in the session as well, or what the option userId reads', () => {
    for (const [user, id] of [
      [{ id: 0 }, 0],
      [{ id: Number.MAX_SAFE_INTEGER }, Number.MAX_SAFE_INTEGER],
      [{ userId: 7, username: 'alice' }, 7],
      [{ userId: 7, id: 'first' }, 'first'],
      [{ _id: 'm1', userId: null }, 'm1'],
      [{ _id: { toHexString: () => '65f0c0ffee' } }, '65f0c0ffee'],
    ] as const) {
      const { userIdOf, sessionUser } = resolveOptions()
      expect(userIdOf(user)).toBe(id)
      const stored = JSON.parse(JSON.stringify(user, (key, value) => (key === '_id' ? id : value)))
      expect(sessionUser({ passport: { user: stored } })).toBe(id)
      expect(sessionUser({ passport: stored })).toBe(id)
    }
    const { userIdOf } = resolveOptions({ userId: (user: { _id: number }) => `mongo-${user._id}` })
    expect(userIdOf({ _id: 5, id: 'other' })).toBe('mongo-5')
  })

  it('throws user_id_missing when there is none, says what to do, suggests a field, and tells nothing of the user', () => {
    const { userIdOf } = resolveOptions()
    const missing = (message: string) =>
      expect.objectContaining({ code: 'user_id_missing', message: expect.stringContaining(message) })
    for (const user of [{}, { id: '', userId: 7 }, { userId: '' }, { id: 1.5 }, { id: null }, { id: 2 ** 53 }]) {
      expect(() => userIdOf(user), JSON.stringify(user)).toThrow(missing('sessmgr({ userId:'))
    }
    expect(() => userIdOf({ name: 'Ada', email: 'ada@example.com' })).toThrow('(user) => user.email')
    expect(() => userIdOf({ name: 'Ada' })).toThrow('(user) => user.uid')
    for (const userId of [undefined, (user: { _id: string }) => user._id]) {
      for (const user of [undefined, null]) {
        expect(() => resolveOptions({ userId }).userIdOf(user)).toThrow(missing('login(request, user)'))
      }
    }
    expect(() => userIdOf({ id: { secret: 'hunter2' } })).toThrow(/it is an object\./)
    expect(() => userIdOf({ password: 'hunter2' })).not.toThrow(/hunter2/)
  })
})

describe('the user of a session from before the service', () => {
  it('is what Passport has serialised, unless that is nothing that can be used', () => {
    const { sessionUser } = resolveOptions({ logger: { warn() {}, error() {} } })
    for (const [user, expected] of [
      ['u1', 'u1'],
      [7, 7],
      [{ id: 7, name: 'x' }, 7],
    ] as const) {
      expect(sessionUser({ passport: { user } })).toBe(expected)
    }
    for (const user of [undefined, null, '', 1.5, true, {}, { id: '' }, []]) {
      expect(sessionUser({ passport: { user } }), JSON.stringify(user)).toBeUndefined()
    }
    for (const data of [{}, { passport: {} }]) expect(sessionUser(data)).toBeUndefined()
  })

  it('rule 50: is warned of once when it has more than an id, and nobody has said what the id is', () => {
    const warnings: string[] = []
    const logger = { warn: (message: string) => void warnings.push(message), error() {} }
    const user = { id: 7, type: 'customer' }
    resolveOptions({ logger, userId: ({ id }) => id }).sessionUser({ passport: { user } })
    resolveOptions({ logger, sessionUser: () => 7 }).sessionUser({ passport: { user } })
    const { sessionUser } = resolveOptions({ logger })
    for (const serialised of [7, '7', { id: 7 }, { id: 7, username: 'ada' }, undefined])
      sessionUser({ passport: { user: serialised } })
    expect(warnings).toEqual([])
    for (let times = 0; times < 2; times++) sessionUser({ passport: { user } })
    expect(warnings).toEqual([
      aWarning('users-with-the-same-id', /^Passport serializes { id, type }.*user\.type \+ ':' \+ user\.id/),
    ])
  })

  it('is what the option sessionUser reads, or else userId of an object, or else what is usual', () => {
    const byUser = resolveOptions({ userId: (user: { profile: { uid: string } }) => user.profile.uid }).sessionUser
    expect(byUser({ passport: { user: { profile: { uid: 'u1' } } } })).toBe('u1')
    expect(byUser({ passport: { user: { id: 7 } } })).toBe(7)
    expect(byUser({ passport: { user: 'u2' } })).toBe('u2')
    const { sessionUser } = resolveOptions({ sessionUser: (data) => data.uid as string })
    expect(sessionUser({ uid: 'u1', passport: { user: 'other' } })).toBe('u1')
    for (const data of [{ passport: { user: 'other' } }, { uid: {} }]) expect(sessionUser(data)).toBeUndefined()
    const thrower = resolveOptions({ sessionUser: (request) => request.session.userId }).sessionUser
    const message = expect.stringContaining("It receives the session's data, not the request")
    const error = { code: 'invalid_option', message, cause: expect.any(TypeError) }
    expect(() => thrower({ cookie: {} })).toThrow(expect.objectContaining(error))
  })
})
