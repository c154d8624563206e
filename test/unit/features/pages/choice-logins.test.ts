import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { HostRequest } from '../../../../src/door/host-types.ts'
import { choiceInput } from '../../../../src/features/pages/choice-logins.ts'
import { sendsJson } from '../../../../src/middleware/refusal.ts'

const FORM = 'application/x-www-form-urlencoded'

const sent = (text: string, type = FORM): HostRequest =>
  Object.assign(Readable.from([Buffer.from(text)]), { headers: { 'content-type': type } }) as unknown as HostRequest

const parsed = (body: unknown): HostRequest =>
  ({ headers: { 'content-type': FORM }, body, readableEnded: true }) as unknown as HostRequest

const NOTHING = { ends: [], all: false, cancel: false, pending: undefined, fields: {} }

describe('the body of a choice', () => {
  it.each([
    ['end=a&end=b&proof=p', { ends: ['a', 'b'], fields: { proof: 'p' } }],
    ['end=a&end=a', { ends: ['a'] }],
    ['all=1&code=42', { all: true, fields: { all: '1', code: '42' } }],
    ['cancel=1', { cancel: true, fields: { cancel: '1' } }],
    ['all=0&cancel=no', { fields: { all: '0', cancel: 'no' } }],
    ['', {}],
  ])('is a form: %s', async (text, expected) => {
    expect(await choiceInput(sent(text))).toEqual({ ...NOTHING, ...expected })
  })

  it.each([
    [{ end: ['a', 'b'] }, { ends: ['a', 'b'] }],
    [{ end: 'a' }, { ends: ['a'], fields: { end: 'a' } }],
    // A parser that keeps no long arrays turns them into objects.
    [{ end: { 0: 'a', 1: 'b' } }, { ends: ['a', 'b'] }],
    [{ end: null }, {}],
    [undefined, {}],
  ])('was read by a body parser: %j', async (body, expected) => {
    const request = body === undefined ? sent('') : parsed(body)
    expect(await choiceInput(request)).toEqual({ ...NOTHING, ...expected })
  })

  it('is JSON by its type alone', async () => {
    const json = '{"end":["a",7],"all":true,"pending":"secret","code":"42"}'
    expect(await choiceInput(sent(json, 'application/json; charset=utf-8'))).toEqual({
      ends: ['a', ''],
      all: true,
      cancel: false,
      pending: 'secret',
      fields: { pending: 'secret', code: '42' },
    })
    expect(sendsJson(sent(json, 'text/plain'))).toBe(false)
    expect(sendsJson(sent(json, 'application/jsonp'))).toBe(false)
  })

  it('chooses nothing if it is far too large', async () => {
    const many = Array.from({ length: 101 }, (_, index) => `end=${index}`).join('&')
    expect((await choiceInput(sent(many))).ends).toEqual([''])
    expect((await choiceInput(sent(`end=${'a'.repeat(200_000)}`))).ends).toEqual([''])
  })
})
