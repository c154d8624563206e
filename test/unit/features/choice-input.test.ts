import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import type { HostRequest } from '../../../src/door/host-types.ts'
import { choiceInput } from '../../../src/features/pages/choice-logins.ts'

const NOTHING = { ends: [], all: false, cancel: false, pending: undefined, fields: {} }

/** A request with a body that is still to be read. */
const sent = (text: string, type = 'application/x-www-form-urlencoded'): HostRequest =>
  Object.assign(Readable.from([Buffer.from(text)]), { headers: { 'content-type': type } }) as unknown as HostRequest

it('the body of a choice is a form, or JSON by its type, and chooses nothing where it is no choice', async () => {
  const json = '{"end":["a",7],"all":true,"pending":"secret","code":"42"}'
  const many = Array.from({ length: 101 }, (_, index) => `end=${index}`).join('&')
  for (const [what, request, expected] of [
    ['form', sent('end=a&end=b&end=a&proof=p'), { ends: ['a', 'b'], fields: { proof: 'p' } }],
    ['yes', sent('all=1&cancel=1'), { all: true, cancel: true, fields: { all: '1', cancel: '1' } }],
    ['no', sent('all=0&cancel=no'), { fields: { all: '0', cancel: 'no' } }],
    ['JSON', sent(json, 'application/json; charset=utf-8'), { ends: ['a', ''], all: true, pending: 'secret' }],
    ['101 ends', sent(many), { ends: [''] }],
  ] as const) {
    expect(await choiceInput(request), what).toMatchObject({ ...NOTHING, ...expected })
  }
})
