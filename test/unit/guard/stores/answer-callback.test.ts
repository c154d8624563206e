import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { answerCallback } from '../../../../src/guard/stores/answer-callback.ts'

test('a failure ends no process where nobody takes the promise, and is told to who does', async () => {
  // Vitest fails for a rejection that nobody handles.
  const outcome = answerCallback(Promise.reject(new Error('down')))
  await nextTurn()
  await expect(outcome).rejects.toThrow('down')
})

test('a callback is told the value, after no error', async () => {
  const told = await new Promise((resolve) => answerCallback(Promise.resolve('data'), (...all) => resolve(all)))
  expect(told).toEqual([null, 'data'])
})

test('a callback gets the promise as well as its caller: nothing is returned', () => {
  expect(answerCallback(Promise.resolve('data'), () => {})).toBeUndefined()
})

test('a callback is told the failure with its status', async () => {
  const error = await new Promise((resolve) => answerCallback(Promise.reject(new Error('down')), resolve))
  expect(error).toMatchObject({ message: 'down' })
})
