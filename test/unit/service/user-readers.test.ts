import { describe, expect, it } from 'vitest'
import { resolveOptions } from '../../../src/service/resolve-options.ts'
import { aWarning } from '../../support/a-warning.ts'

describe('the id of a user', () => {
  it.each(['u1', 7, 0, -1, Number.MAX_SAFE_INTEGER])('is %j when that is in user.id', (id) => {
    expect(resolveOptions().userIdOf({ id })).toBe(id)
  })

  it.each([
    [{ userId: 7, username: 'alice' }, 7],
    [{ userId: 7, id: 'first' }, 'first'],
    [{ _id: 'm1', userId: null }, 'm1'],
    [{ _id: { toHexString: () => '65f0c0ffee' } }, '65f0c0ffee'],
  ])('is found in %j, in the session as well', (user, id) => {
    const { userIdOf, sessionUser } = resolveOptions()
    expect(userIdOf(user)).toBe(id)
    const stored = JSON.parse(JSON.stringify(user, (key, value) => (key === '_id' ? id : value)))
    expect(sessionUser({ passport: { user: stored } })).toBe(id)
    expect(sessionUser({ passport: stored })).toBe(id)
  })

  it('suggests a field that the user has', () => {
    const { userIdOf } = resolveOptions()
    expect(() => userIdOf({ name: 'Ada', email: 'ada@example.com' })).toThrow('(user) => user.email')
    expect(() => userIdOf({ name: 'Ada' })).toThrow('(user) => user.uid')
  })

  it('is what the option userId reads', () => {
    const { userIdOf } = resolveOptions({ userId: (user: { _id: number }) => `mongo-${user._id}` })
    expect(userIdOf({ _id: 5, id: 'other' })).toBe('mongo-5')
  })

  it('throws user_id_missing when there is none that can be used, and says what to do', () => {
    for (const user of [
      {},
      { id: '', userId: 7 },
      { userId: '' },
      { id: '' },
      { id: 1.5 },
      { id: null },
      { id: {} },
      { id: 2 ** 53 },
    ]) {
      expect(() => resolveOptions().userIdOf(user), JSON.stringify(user)).toThrow(
        expect.objectContaining({ code: 'user_id_missing', message: expect.stringContaining('sessmgr({ userId:') }),
      )
    }
  })

  it('says that the user is missing, also to an application with its own userId', () => {
    for (const userId of [undefined, (user: { _id: string }) => user._id]) {
      for (const user of [undefined, null]) {
        expect(() => resolveOptions({ userId }).userIdOf(user)).toThrow(
          expect.objectContaining({
            code: 'user_id_missing',
            message: expect.stringContaining('login(request, user)'),
          }),
        )
      }
    }
  })

  it('does not tell the user in the error', () => {
    const { userIdOf } = resolveOptions()
    expect(() => userIdOf({ id: { secret: 'hunter2' } })).toThrow(/it is an object\./)
    expect(() => userIdOf({ password: 'hunter2' })).not.toThrow(/hunter2/)
  })
})

describe('sessionUser', () => {
  it('that throws is told what it receives', () => {
    const { sessionUser } = resolveOptions({ sessionUser: (request) => request.session.userId })
    expect(() => sessionUser({ cookie: {} })).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining("It receives the session's data, not the request"),
        cause: expect.any(TypeError),
      }),
    )
  })
})

describe('the user of a session from before the service', () => {
  const silent = { warn() {}, error() {} }

  it.each([
    ['u1', 'u1'],
    [7, 7],
    [{ id: 7, name: 'x' }, 7],
    [{ id: 'u1' }, 'u1'],
  ])('is what Passport has serialised as %j', (user, expected) => {
    expect(resolveOptions({ logger: silent }).sessionUser({ passport: { user } })).toBe(expected)
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

  it('is what the option userId reads from an object, or else what is usual', () => {
    const { sessionUser } = resolveOptions({ userId: (user: { profile: { uid: string } }) => user.profile.uid })
    expect(sessionUser({ passport: { user: { profile: { uid: 'u1' } } } })).toBe('u1')
    expect(sessionUser({ passport: { user: { id: 7 } } })).toBe(7)
    expect(sessionUser({ passport: { user: 'u2' } })).toBe('u2')
  })

  it('is unknown where Passport has serialised nothing that can be used', () => {
    const { sessionUser } = resolveOptions()
    for (const user of [undefined, null, '', 1.5, true, {}, { id: '' }, []]) {
      expect(sessionUser({ passport: { user } }), JSON.stringify(user)).toBeUndefined()
    }
    expect(sessionUser({})).toBeUndefined()
    expect(sessionUser({ passport: {} })).toBeUndefined()
  })

  it('is what the option sessionUser reads', () => {
    const { sessionUser } = resolveOptions({ sessionUser: (data) => data.uid as string })
    expect(sessionUser({ uid: 'u1', passport: { user: 'other' } })).toBe('u1')
    expect(sessionUser({ passport: { user: 'other' } })).toBeUndefined()
    expect(sessionUser({ uid: {} })).toBeUndefined()
  })
})
