import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { HostStore } from '../../../../src/door/host-types.ts'
import { StoreHealth } from '../../../../src/door/port.ts'
import { answerCallback, promised, sessionCall, storeCalls } from '../../../../src/door/stores/store-calls.ts'

const MISSING = Object.assign(new Error("no such file or directory, open '/sessions/raw-id.json'"), { code: 'ENOENT' })
const BROKEN = Object.assign(new Error('raw-id cannot be read'), { code: 'EIO' })

function failingCalls(error: Error) {
  const fail = (...parameters: unknown[]) => (parameters.at(-1) as (error: Error) => void)(error)
  return storeCalls({ get: fail, set: fail, destroy: fail, touch: fail } as unknown as HostStore, 1000)
}

describe('a session store that keeps files', () => {
  test('has nothing to read, to touch or to destroy where there is no file', async () => {
    const calls = failingCalls(MISSING)
    expect(await calls.get('raw-id')).toBeUndefined()
    await promised<void>((call) => calls.touch?.('raw-id', {}, call))
    await calls.destroy('raw-id')
  })

  test('fails to write where there is no folder, with its own error', async () => {
    await expect(failingCalls(MISSING).set('raw-id', {})).rejects.toBe(MISSING)
    expect(MISSING).toMatchObject({ code: 'ENOENT', status: 503, headers: { 'Retry-After': '2' } })
  })

  test('fails in everything for any other reason', async () => {
    const calls = failingCalls(BROKEN)
    const attempts = [
      () => calls.get('raw-id'),
      () => promised<void>((call) => calls.touch?.('raw-id', {}, call)),
      () => calls.destroy('raw-id'),
    ]
    for (const attempt of attempts) await expect(attempt()).rejects.toBe(BROKEN)
  })
})

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

test.each([undefined, null, false, 0])(
  'a store that throws %j has failed, and is not taken to have no session',
  async (thrown) => {
    const get = () => {
      throw thrown
    }
    await expect(storeCalls({ get } as unknown as HostStore, 1000).get('a')).rejects.toThrow('without an error')
    await expect(sessionCall(new StoreHealth())(get)).rejects.toThrow('without an error')
  },
)
