import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import type { HostRequest } from '../../../src/door/host-types.ts'
import { choiceInput } from '../../../src/features/pages/choice-logins.ts'

const FORM = 'application/x-www-form-urlencoded'
const NOTHING = { ends: [], all: false, cancel: false, pending: undefined, fields: {} }

/** A request with a body that is still to be read, or that a parser has read. */
const sent = (text: string, type = FORM): HostRequest =>
  Object.assign(Readable.from([Buffer.from(text)]), { headers: { 'content-type': type } }) as unknown as HostRequest
const parsed = (body: unknown): HostRequest =>
  ({ headers: { 'content-type': FORM }, body, readableEnded: true }) as unknown as HostRequest

it('the body of a choice is a form, read here or by a body parser, or JSON by its type', async () => {
  const json = '{"end":["a",7],"all":true,"pending":"secret","code":"42"}'
  const rows: readonly (readonly [HostRequest, object])[] = [
    [sent('end=a&end=b&proof=p'), { ends: ['a', 'b'], fields: { proof: 'p' } }],
    [sent('all=1&code=42'), { all: true, fields: { all: '1', code: '42' } }],
    [sent('cancel=1'), { cancel: true, fields: { cancel: '1' } }],
    [sent('all=0&cancel=no'), { fields: { all: '0', cancel: 'no' } }],
    [parsed({ end: ['a', 'b'] }), { ends: ['a', 'b'] }],
    [parsed({ end: 'a' }), { ends: ['a'], fields: { end: 'a' } }],
    // A parser that keeps no long arrays turns them into objects.
    [parsed({ end: { 0: 'a', 1: 'b' } }), { ends: ['a', 'b'] }],
    [
      sent(json, 'application/json; charset=utf-8'),
      { ends: ['a', ''], all: true, pending: 'secret', fields: { pending: 'secret', code: '42' } },
    ],
    // What is far too large chooses nothing.
    [sent(`end=${'a'.repeat(200_000)}`), { ends: [''] }],
  ]
  for (const [index, [request, expected]] of rows.entries()) {
    expect(await choiceInput(request), `row ${index}`).toEqual({ ...NOTHING, ...expected })
  }
  const many = Array.from({ length: 101 }, (_, index) => `end=${index}`).join('&')
  expect((await choiceInput(sent(many))).ends).toEqual([''])
})
