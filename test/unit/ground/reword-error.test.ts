import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { rewordError } from '../../../src/ground/reword-error.ts'

test('an error worded anew keeps its code, and nothing that a client attached', () => {
  const error = Object.assign(new Error('cannot read /sessions/id'), { code: 'EIO', command: { args: ['id'] } })
  const reworded = rewordError(error, (text) => text.replace('id', '…'))
  expect(reworded).toMatchObject({ message: 'cannot read /sessions/…', code: 'EIO' })
  expect(inspect(reworded)).not.toContain("'id'")
})

test('what is no error becomes one, without a code', () => {
  const reworded = rewordError('down', (text) => `${text}: …`)
  expect([reworded.message, 'code' in reworded]).toEqual(['down: …', false])
})
