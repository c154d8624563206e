import { expect, test } from 'vitest'
import { messageOf } from '../../../src/ground/message-of.ts'

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
