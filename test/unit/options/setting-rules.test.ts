import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as rules from '../../../src/options/setting-rules.ts'
import { BUILT_IN_LOGICS, wholeSettings } from '../../support/whole-settings.ts'

const sanitizeSettings = (value: unknown, fallback: rules.SessionSettings, logics = BUILT_IN_LOGICS) =>
  rules.sanitizeSettings(value, fallback, logics)

/** Parses JSON, in which `__proto__` is a key like any other. */
const parsed = (json: string) => JSON.parse(json) as Record<string, unknown>

describe('sanitising settings', () => {
  const fallback = wholeSettings({ maximum: 3, logic: 'block', idle_release: 900, enforce: false })

  it.each([
    [0, 1],
    [-5, 1],
    [1, 1],
    [2.9, 2],
    ['7', 7],
    ['x', 1],
    ['', 1],
    [null, 1],
    [Number.NaN, 1],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ])('makes the maximum %j into %j', (given, expected) => {
    expect(sanitizeSettings({ maximum: given }, fallback)).toEqual({ ...fallback, maximum: expected })
  })

  it.each([
    [0, 0],
    [-5, 0],
    [1, 300],
    [299.9, 300],
    [300, 300],
    ['900', 900],
    ['soon', 0],
    [null, 0],
    [true, 0],
    [Number.NaN, 0],
    [1e300, Number.MAX_SAFE_INTEGER],
  ])('makes the idle release %j into %j', (given, expected) => {
    expect(sanitizeSettings({ idle_release: given }, fallback)).toEqual({ ...fallback, idle_release: expected })
  })

  it('takes nothing from a __proto__ key', () => {
    expect(sanitizeSettings(parsed('{"__proto__":{"maximum":99,"logic":"allow"}}'), fallback)).toEqual(fallback)
  })

  it('makes valid settings of an object that cannot be made a number', () => {
    const hostile = parsed('{"maximum":{"toString":1,"valueOf":1}}')
    expect(sanitizeSettings(hostile, fallback)).toEqual({ ...fallback, maximum: 1 })
  })

  it('makes valid settings of any JSON', () => {
    const any = fc.option(fc.jsonValue(), { nil: undefined })
    fc.assert(
      fc.property(fc.oneof(any, fc.record({ maximum: any, logic: any, idle_release: any, enforce: any })), (value) => {
        const { maximum, logic, idle_release, enforce, ...rest } = sanitizeSettings(value, fallback)
        expect(Number.isSafeInteger(maximum) && maximum >= 1).toBe(true)
        expect(BUILT_IN_LOGICS).toContain(logic)
        expect(idle_release === 0 || (Number.isSafeInteger(idle_release) && idle_release >= 300)).toBe(true)
        expect(enforce).toBeTypeOf('boolean')
        expect(rest).toEqual({})
      }),
    )
  })
})
