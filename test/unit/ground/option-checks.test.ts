import { describe, expect, it, test } from 'vitest'
import {
  callable,
  type Declared,
  inWords,
  keysOf,
  must,
  nearestName,
  requireBoolean,
  requireKnown,
  resolveDeclared,
  whole,
} from '../../../src/ground/option-checks.ts'

const KNOWN = ['maximum', 'logic', 'sessionStore', 'sessmgr_login_blocked', 'sessmgr_logout_all_users']

describe('nearestName', () => {
  it.each([
    ['maximun', 'maximum'],
    ['max1mum', 'maximum'],
    ['maximu', 'maximum'],
    ['maximumm', 'maximum'],
    ['Logic', 'logic'],
    ['sessionstore', 'sessionStore'],
    ['sessmgr_logn_blocked', 'sessmgr_login_blocked'],
    ['sessmgr_logout_all_user', 'sessmgr_logout_all_users'],
  ])('takes %s for %s', (given, meant) => {
    expect(nearestName(given, KNOWN)).toBe(meant)
  })

  it.each(['cookie', 'xyz', '', 'sessmgr'])('makes no guess for %j, which is near to nothing', (given) => {
    expect(nearestName(given, KNOWN)).toBeUndefined()
  })

  it('prefers the nearest of several near names', () => {
    expect(nearestName('abcdef', ['abcdxx', 'abcdex', 'abxxef'])).toBe('abcdex')
  })
})

test.each([
  ['2', "the string '2'"],
  ['', "the string ''"],
  [2, '2'],
  [Number.NaN, 'NaN'],
  [null, 'null'],
  [undefined, 'undefined'],
  [true, 'true'],
  [Symbol('x'), 'Symbol(x)'],
  [[2], 'an array'],
  [{ password: 'hunter2' }, 'an object'],
  [() => 2, 'a function'],
])('%o is shown by its kind, and where it is short by what it is', (value, words) => {
  expect(inWords(value)).toBe(words)
})

describe('what an option has to be', () => {
  it('is said of an unknown name, with the one that was most likely meant', () => {
    expect(() => requireKnown({ logic: 1 }, KNOWN)).not.toThrow()
    expect(() => requireKnown({ logik: 1 }, KNOWN)).toThrow('There is no option "logik". Did you mean "logic"?')
    expect(() => requireKnown({ max: 1 }, KNOWN, (name) => `No "${name}"`, { max: 'settings.maximum' })).toThrow(
      'No "max". Did you mean "settings.maximum"?',
    )
  })
})

describe('declared options', () => {
  interface Options {
    readonly seconds?: number | undefined
    readonly isOn?: boolean | undefined
    readonly find?: ((id: number) => string) | undefined
    readonly show?: { readonly ip?: boolean | undefined; readonly place?: string | undefined } | undefined
  }

  const OPTIONS = {
    seconds: [whole(1, 60), 30],
    isOn: [requireBoolean, false],
    find: [callable('(id) => name')],
    show: [keysOf({ ip: requireBoolean, place: must('be a town', (place) => place === 'Berlin') }), {}],
  } as const satisfies Declared<Options>
  const resolve = (options: object) => resolveDeclared(OPTIONS, options as Options, { caller: 'start' })

  it('have their defaults where they are omitted or undefined, and are given as they are otherwise', () => {
    expect(resolve({ seconds: undefined })).toEqual({ seconds: 30, isOn: false, find: undefined, show: {} })
    const given = { seconds: 1, isOn: true, find: () => 'x', show: { ip: true, place: 'Berlin' } }
    expect(resolve(given)).toEqual(given)
    expect(resolve(given).seconds.toFixed(1)).toBe('1.0')
  })

  it.each([
    [{ second: 1 }, 'start() has no option "second". Did you mean "seconds"?'],
    [{ seconds: 61 }, '"seconds" must be a whole number from 1 to 60; got 61'],
    [{ isOn: null }, '"isOn" must be true or false; got null'],
    [{ find: 'x' }, '"find" must be a function such as (id) => name.'],
    [{ show: [] }, '"show" must be an object'],
    [{ show: { town: '' } }, '"show" has no key "town"'],
    [{ show: { place: 'Rome' } }, '"show.place" must be a town'],
    [[], 'The options of start() must be an object'],
  ])('%j are refused', (options, message) => {
    expect(() => resolve(options)).toThrow(message)
  })
})
