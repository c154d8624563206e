import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { answerCallback } from '../../../../src/guard/stores/answer-callback.ts'

test('a failure ends no process where nobody takes the promise, and is told to who does', async () => {
  // Vitest fails for a rejection that nobody handles.
  const outcome = answerCallback(Promise.reject(new Error('down')))
  await nextTurn()
  await expect(outcome).rejects.toThrow('down')
})

test('a callback is told the failure with its status', async () => {
  const error = await new Promise((resolve) => answerCallback(Promise.reject(new Error('down')), resolve))
  expect(error).toMatchObject({ message: 'down' })
})
