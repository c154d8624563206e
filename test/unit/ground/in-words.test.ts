import { expect, test } from 'vitest'
import { inWords } from '../../../src/ground/in-words.ts'

test.each([
  ['2', "the text '2'"],
  ['', "the text ''"],
  [2, '2'],
  [Number.NaN, 'NaN'],
  [null, 'null'],
  [undefined, 'undefined'],
  [true, 'true'],
  [Symbol('x'), 'Symbol(x)'],
  [[2], 'an array'],
  [{ password: 'hunter2' }, 'an object'],
  [() => 2, 'a function'],
])('%o is shown by its kind, and where it is short by what it is', (value, words) => {
  expect(inWords(value)).toBe(words)
})
