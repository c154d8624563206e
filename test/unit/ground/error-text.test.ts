import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { errorText, messageOf, rewordError } from '../../../src/ground/error-text.ts'

test.each([
  [new Error('no room', { cause: new Error('OOM on sess:raw-id') }), 'no room OOM on sess:<session id>'],
  [new Error('raw-id is gone'), '<session id> is gone'],
  [new Error('failed', { cause: 'by hand' }), 'failed by hand'],
  ['a text', 'a text'],
  [new AggregateError([new Error('connect ECONNREFUSED 127.0.0.1')]), 'connect ECONNREFUSED 127.0.0.1'],
])('an error is told with its cause, and without the session id', (error, text) => {
  expect(errorText(error, 'raw-id')).toBe(text)
})

test('an empty session id hides nothing', () => {
  expect(errorText(new Error('no room'), '')).toBe('no room')
})

test.each([
  ['an error', new Error('no room'), 'no room'],
  ['tries at several addresses', new AggregateError([new Error('refused'), new Error('timed out')]), 'refused'],
  ['such tries under a sentence', new AggregateError([new Error('refused')], 'nobody there'), 'nobody there'],
  ['a code alone', Object.assign(new Error(), { code: 'ECONNRESET' }), 'ECONNRESET'],
  ['an error without anything', new Error(), 'no message'],
  ['an object of another kind', {}, 'no message'],
  ['a text', 'by hand', 'by hand'],
  ['nothing', undefined, 'undefined'],
])('the sentence is found of %s', (_what, error, sentence) => {
  expect(messageOf(error)).toBe(sentence)
})

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
