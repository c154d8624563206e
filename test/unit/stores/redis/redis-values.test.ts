import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { AskedOnce } from '../../../../src/stores/redis/redis-values.ts'

function counted() {
  const asked = new AskedOnce<number>()
  let count = 0
  return { asked, ask: (name = 'a') => asked.of(name, async () => ++count) }
}

it('one question serves everybody in one turn of the event loop, and another name is another question', async () => {
  const { ask } = counted()
  expect(await Promise.all([ask(), ask(), ask('b'), ask()])).toEqual([1, 1, 2, 1])
})

it('the next turn asks again', async () => {
  const { ask } = counted()
  const answers = [await ask()]
  for (let turn = 0; turn < 2; turn++) {
    await setImmediate()
    answers.push(await ask())
  }
  expect(answers).toEqual([1, 2, 3])
})

it('what was changed here is asked again at once', async () => {
  const { asked, ask } = counted()
  const first = await ask()
  asked.forget()
  expect([first, await ask(), await ask()]).toEqual([1, 2, 2])
})
