import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { DocumentRows } from '../../../../src/stores/document/document-rows.ts'
import { MemoryRows } from '../../../support/memory-driver.ts'

/** Rows of a driver that itself sends calls of one turn together. */
function pipelined() {
  const memory = new MemoryRows()
  const driver = memory.driver()
  const asked: (readonly [keys: readonly string[], exactly: boolean | undefined])[] = []
  const rows = new DocumentRows(
    {
      ...driver,
      isPipelined: true,
      get(keys, exactly) {
        asked.push([keys, exactly])
        return driver.get(keys)
      },
    },
    { deadlineMs: 1000 },
  )
  const write = (key: string, text: string) => rows.change(key, () => ({ result: undefined, write: { text } }))
  return { rows, asked, write }
}

it('one reading serves everybody in one turn of the event loop, and another row is another reading', async () => {
  const { rows, asked } = pipelined()
  await Promise.all(['a', 'a', 'b', 'a'].map((key) => rows.read(key)))
  expect(asked.map(([keys]) => keys)).toEqual([['a'], ['b']])
})

it('a reading is sent at once, and the next turn has one of its own', async () => {
  const { rows, asked } = pipelined()
  const reading = rows.read('a')
  expect(asked).toHaveLength(1)
  await reading
  await setImmediate()
  await rows.read('a')
  expect(asked).toHaveLength(2)
})

it('a reading that must know the time exactly is not served by one that need not', async () => {
  const { rows, asked } = pipelined()
  await Promise.all([rows.read('a'), rows.read('a', true), rows.read('a')])
  expect(asked.map(([, exactly]) => exactly)).toEqual([false, true])
})

it('what was written here is read again at once', async () => {
  const { rows, write } = pipelined()
  // All within one turn.
  const before = (await rows.read('a')).text
  await write('a', 'new')
  expect([before, (await rows.read('a')).text]).toEqual([undefined, 'new'])
})
