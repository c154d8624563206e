import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BUILT_IN_LOGICS, type SessionSettings, sanitizeSettings } from '../../../src/options/setting-rules.ts'

/** Parses JSON, in which `__proto__` is a key like any other. */
const parsed = (json: string) => JSON.parse(json) as Record<string, unknown>

describe('sanitising settings', () => {
  const fallback: SessionSettings = { maximum: 3, logic: 'block' }

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
    expect(sanitizeSettings({ maximum: given }, fallback)).toEqual({ maximum: expected, logic: 'block' })
  })

  it('makes an unknown logic into allow and keeps the known ones', () => {
    for (const logic of ['nothing', '', 5, null, ['block'], '__proto__']) {
      expect(sanitizeSettings({ logic }, fallback)).toEqual({ maximum: 3, logic: 'allow' })
    }
    for (const logic of BUILT_IN_LOGICS) expect(sanitizeSettings({ logic }, fallback).logic).toBe(logic)
  })

  it('keeps a logic that the application has added', () => {
    expect(sanitizeSettings({ logic: 'by_role' }, fallback, ['allow', 'by_role']).logic).toBe('by_role')
  })

  it('keeps what was there for omitted keys and drops unknown ones', () => {
    expect(sanitizeSettings({}, fallback)).toEqual(fallback)
    expect(sanitizeSettings({ color: 'red' }, fallback)).toEqual(fallback)
    for (const value of [undefined, null, 5, 'text', true]) expect(sanitizeSettings(value, fallback)).toEqual(fallback)
  })

  it('takes nothing from a __proto__ key', () => {
    expect(sanitizeSettings(parsed('{"__proto__":{"maximum":99,"logic":"allow"}}'), fallback)).toEqual(fallback)
  })

  it('makes valid settings of an object that cannot be made a number', () => {
    const hostile = parsed('{"maximum":{"toString":1,"valueOf":1}}')
    expect(sanitizeSettings(hostile, fallback)).toEqual({ maximum: 1, logic: 'block' })
  })

  it('makes valid settings of any JSON', () => {
    const any = fc.option(fc.jsonValue(), { nil: undefined })
    fc.assert(
      fc.property(fc.oneof(any, fc.record({ maximum: any, logic: any })), (value) => {
        const { maximum, logic, ...rest } = sanitizeSettings(value, fallback)
        expect(Number.isSafeInteger(maximum) && maximum >= 1).toBe(true)
        expect(BUILT_IN_LOGICS).toContain(logic)
        expect(rest).toEqual({})
      }),
    )
  })
})
