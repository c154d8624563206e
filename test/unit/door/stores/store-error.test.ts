import { describe, expect, it } from 'vitest'
import { asStoreError, asUnavailable, isStoreError } from '../../../../src/door/stores/store-error.ts'
import type { SessmgrError } from '../../../../src/index.ts'

const AWAY = { status: 503, headers: { 'Retry-After': '2' } }

describe('an error of the session store', () => {
  it('stays the same object, and gets a status that its own properties do not show', () => {
    const error = Object.assign(new RangeError('busy'), { code: 'SQLITE_BUSY' })
    expect(asStoreError(error)).toBe(error)
    expect(error).toMatchObject({ ...AWAY, code: 'SQLITE_BUSY', message: 'busy' })
    expect(Object.keys(error)).toEqual(['code'])
    expect(asStoreError(error), 'when it is thrown again').toBe(error)
  })

  it.each([
    ['status', { status: 429 }],
    ['statusCode', { statusCode: 504, headers: { 'Retry-After': '60' } }],
  ])('keeps its own %s', (_name, own) => {
    const error = Object.assign(new Error('busy'), own)
    expect(asStoreError(error)).toBe(error)
    expect(Object.keys(error)).toEqual(Object.keys(own))
    expect(error).toMatchObject(own)
    expect('status' in error && 'statusCode' in error).toBe(false)
  })

  it('never sends headers that it had for another purpose', () => {
    const error = Object.assign(new Error('refused'), { headers: { 'X-Internal': 'secret' } })
    expect(asStoreError(error)).toBe(error)
    expect(error.headers).toEqual({ 'Retry-After': '2' })
  })

  it('without a prototype, or no Error at all, stays the same object too', () => {
    const plain = Object.assign(Object.create(null), { reason: 'busy' })
    expect(asStoreError(plain)).toBe(plain)
    expect(plain.status).toBe(503)
  })

  it.each([
    ['a frozen error', Object.freeze(new Error('busy'))],
    ['a string', 'busy'],
    ['a number', 7],
    ['null', null],
    ['an object that refuses', new Proxy({}, { defineProperty: () => false })],
  ])('that is %s stays as it is', (_name, value) => {
    expect(asStoreError(value)).toBe(value)
  })

  it('is known again, and shown to clients without its message', () => {
    const error = asStoreError(Object.assign(new Error('at /var/secret'), { status: 500 }))
    expect([isStoreError(error), isStoreError(new Error('other')), isStoreError('text')]).toEqual([true, false, false])
    const shown = asUnavailable(error) as SessmgrError
    expect(shown).toMatchObject({ code: 'store_unavailable', ...AWAY, cause: error })
    expect(shown.message).not.toContain('secret')
    const other = new Error('other')
    expect(asUnavailable(other)).toBe(other)
  })
})
