import { MemoryStore } from 'express-session'
import { describe, expect, it } from 'vitest'
import { resolveOptions } from '../../../src/service/resolve-options.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { optionsRefusal as refusal } from '../../support/options-refusal.ts'

const invalid = (message: string | RegExp) => ({ code: 'invalid_option', message: expect.stringMatching(message) })

describe('the options of sessmgr()', () => {
  it('throw for a session store given as the store, and say where it belongs', () => {
    expect(refusal({ store: new MemoryStore() })).toMatchObject(invalid('a session store belongs in "sessionStore"'))
    for (const store of [null, {}, 'redis://localhost', { ...memoryStore(), sessions: undefined }]) {
      expect(refusal({ store })).toMatchObject(invalid('"store" must be a store from memoryStore\\(\\)'))
    }
  })
})

const labelOf = () => 'staff'
const labels = (options: object) => resolveOptions({ ...options, deadlineMs: 50 }).labels

it('are none unless limits are given', () => {
  expect(labels({})).toBeUndefined()
  expect(labels({ limits: { desktop: 1, mobile: 2 } })).toEqual({
    limits: { desktop: 1, mobile: 2 },
    deadlineMs: 50,
  })
  expect(labels({ limits: { staff: 3 }, labelOf })).toEqual({ limits: { staff: 3 }, labelOf, deadlineMs: 50 })
})

it('does not change with the object that was given', () => {
  const limits: Record<string, number> = { desktop: 1 }
  const checked = labels({ limits })
  limits.desktop = 9
  expect(checked?.limits).toEqual({ desktop: 1 })
})

it.each<[object, RegExp]>([
  [{ limits: 1 }, /"limits" must be an object/],
  [{ limits: [1] }, /"limits" must be an object/],
  [{ limits: { mobil: 1 } }, /"limits.mobil" has no effect: .* desktop and mobile. Did you mean "mobile"/],
  [{ limits: { desktop: 0 } }, /"limits.desktop" must be a whole number, 1 or more; got 0/],
  [{ limits: { staff: '2' }, labelOf }, /"limits.staff" must be a whole number, 1 or more; got the string '2'/],
  [{ limits: {}, labelOf: 'desktop' }, /"labelOf" must be a function such as /],
  [{ labelOf }, /"labelOf" has no effect without "limits"/],
])('refuses %j', (options, message) => {
  expect(() => labels(options)).toThrow(message)
})

const invalidHost = (message: string | RegExp) => ({ code: 'invalid_option', message: expect.stringMatching(message) })

describe('the option "host" of sessmgr()', () => {
  it('throw for a host that cannot find users, or tell what they may do', () => {
    const find = async () => undefined
    const users = { findById: find, findByEmail: find, findByLogin: find, summary: () => ({}) }
    expect(resolveOptions({ host: { users, can: () => true } as never }).host).toBeDefined()
    for (const method of Object.keys(users)) {
      const host = { users: { ...users, [method]: undefined }, can: () => true }
      expect(refusal({ host }), method).toMatchObject(invalidHost(`"host.users.${method}" must be a function`))
    }
    expect(refusal({ host: { users } })).toMatchObject(invalidHost('"host.can" must be a function'))
    expect(refusal({ host: { users: 'none' } })).toMatchObject(invalidHost('"host.users.findById" must be a function'))
    for (const host of [null, {}, 'host', { users: null }]) {
      expect(refusal({ host })).toMatchObject(
        invalidHost('^"host" must have users .*: sessmgr\\(\\{ host: \\{ users, can \\} \\}\\).$'),
      )
    }
  })

  it('throw for a host of posts without users, and say how the lazy comments come alone', () => {
    for (const host of [{ posts: {} }, { theme: {} }]) {
      expect(refusal({ host })).toMatchObject(
        invalidHost('users, can .* createLazyComments\\(\\) from sessmgr/comments.$'),
      )
    }
  })

  it('throw for a rate limiter of passwords that lacks a half, which a wrong password would find out', () => {
    const find = async () => undefined
    const users = { findById: find, findByEmail: find, findByLogin: find, summary: () => ({}) }
    const host = (attempts: unknown) => ({ users, can: () => true, attempts })
    const both = { allow: () => true, failed() {} }
    for (const attempts of [undefined, both]) {
      expect(resolveOptions({ host: host(attempts) as never }).host?.attempts === undefined).toBe(
        attempts === undefined,
      )
    }
    const missing = (method: string) =>
      invalidHost(`^"host.attempts.${method}" must be a function: .* both allow and failed`)
    expect(refusal({ host: host({ allow: both.allow }) })).toMatchObject(missing('failed'))
    expect(refusal({ host: host({ failed: both.failed }) })).toMatchObject(missing('allow'))
    for (const attempts of [{}, null, () => true, { ...both, allow: true }]) {
      expect(refusal({ host: host(attempts) })).toMatchObject(missing('allow'))
    }
    expect(refusal({ host: host({ ...both, failed: 5 }) })).toMatchObject(missing('failed'))
  })
})
