import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { HostStore } from '../../../../src/guard/host-types.ts'
import { answerCallback, promised, storeCalls } from '../../../../src/guard/stores/store-calls.ts'
import { sessionTimes } from '../../../support/guard-world.ts'

const MISSING = Object.assign(new Error("no such file or directory, open '/sessions/raw-id.json'"), { code: 'ENOENT' })
const BROKEN = Object.assign(new Error('raw-id cannot be read'), { code: 'EIO' })

function failingCalls(error: Error) {
  const fail = (...parameters: unknown[]) => (parameters.at(-1) as (error: Error) => void)(error)
  return storeCalls({ get: fail, set: fail, destroy: fail, touch: fail } as unknown as HostStore, sessionTimes())
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

describe("while neither the session store nor sessmgr's own store responds", () => {
  const hang = () => {}
  const ask = () => new Promise<void>(hang)
  const startHanging = () =>
    storeCalls(
      { get: hang, set: hang, destroy: hang } as unknown as HostStore,
      sessionTimes({ sessionStoreDeadlineMs: 60_000, deadlineMs: 100, ask }),
    )

  test('reads, and what a login writes and destroys, fail early (56)', async () => {
    const calls = startHanging()
    const visit = { login: {} }
    const early = [calls.get('a'), calls.set('b', {}, visit), calls.destroy('c', visit)]
    for (const call of early) await expect(call).rejects.toThrow('did not respond within 100 ms')
  })

  test('what an admitted session writes and destroys waits for its own deadline (56)', async () => {
    const calls = startHanging()
    const visit = { login: undefined }
    const later = Promise.race([calls.set('a', {}, visit), calls.destroy('b', visit)])
    await expect(calls.get('c')).rejects.toThrow('did not respond within 100 ms')
    expect(await Promise.race([later.catch(() => 'failed'), nextTurn('waits')])).toBe('waits')
  })
})
