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

test('the name that was most likely meant is the nearest, whatever its case, or none', () => {
  for (const [given, meant] of [
    ['maximun', 'maximum'],
    ['maximu', 'maximum'],
    ['maximumm', 'maximum'],
    ['sessionstore', 'sessionStore'],
    ['sessmgr_logn_blocked', 'sessmgr_login_blocked'],
    ['sessmgr_logout_all_user', 'sessmgr_logout_all_users'],
    ['cookie', undefined],
    ['', undefined],
    ['sessmgr', undefined],
  ] as const) {
    expect(nearestName(given, KNOWN), given).toBe(meant)
  }
  expect(nearestName('abcdef', ['abcdxx', 'abcdex', 'abxxef'])).toBe('abcdex')
  expect(() => requireKnown({ logic: 1 }, KNOWN)).not.toThrow()
  expect(() => requireKnown({ logik: 1 }, KNOWN)).toThrow('There is no option "logik". Did you mean "logic"?')
  const meant = () => requireKnown({ max: 1 }, KNOWN, (name) => `No "${name}"`, { max: 'settings.maximum' })
  expect(meant).toThrow('No "max". Did you mean "settings.maximum"?')
})

test('a value is shown by its kind, and where it is short by what it is', () => {
  for (const [value, words] of [
    ['2', "the string '2'"],
    [2, '2'],
    [Number.NaN, 'NaN'],
    [null, 'null'],
    [undefined, 'undefined'],
    [Symbol('x'), 'Symbol(x)'],
    [[2], 'an array'],
    [{ password: 'hunter2' }, 'an object'],
    [() => 2, 'a function'],
  ] as const) {
    expect(inWords(value)).toBe(words)
  }
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

  it('are refused where they are not as they must be', () => {
    for (const [options, message] of [
      [{ second: 1 }, 'start() has no option "second". Did you mean "seconds"?'],
      [{ seconds: 61 }, '"seconds" must be a whole number from 1 to 60; got 61'],
      [{ isOn: null }, '"isOn" must be true or false; got null'],
      [{ find: 'x' }, '"find" must be a function such as (id) => name.'],
      [{ show: [] }, '"show" must be an object'],
      [{ show: { town: '' } }, '"show" has no key "town"'],
      [{ show: { place: 'Rome' } }, '"show.place" must be a town'],
      [[], 'The options of start() must be an object'],
    ] as const) {
      expect(() => resolve(options)).toThrow(message)
    }
  })
})
