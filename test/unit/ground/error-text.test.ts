import { expect, test } from 'vitest'
import { errorText } from '../../../src/ground/error-text.ts'

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
