import { expect, test } from 'vitest'
import { heapInUse } from '../../support/heap.ts'
import { startFetchApp } from './fetch-app.ts'

test('ten thousand requests leave no memory behind', async () => {
  const { send, logIn } = startFetchApp({ settings: { maximum: 3 } })
  const cookie = await logIn()
  const pass = async (count: number) => {
    for (let done = 0; done < count; done += 100) {
      await Promise.all(
        Array.from({ length: 100 }, async (_, index) => (await send(index % 2 ? '/me' : '/devices', cookie)).text()),
      )
    }
    return heapInUse()
  }
  const first = await pass(2000)
  expect((await pass(10_000)) - first).toBeLessThan(2)
})
