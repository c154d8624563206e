import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { CallDeadline } from '../../../src/ground/call-deadline.ts'

describe('a store of which only a part hangs', () => {
  it('answers all calls that do not, while others run into their deadline', async () => {
    const deadline = new CallDeadline(60, 'store')
    const outcomes = { answered: 0, refused: 0, hung: 0 }
    const calls: Promise<unknown>[] = []
    for (let index = 0; index < 150; index++) {
      const hangs = index % 3 === 0
      const call = deadline.run(() => (hangs ? new Promise(() => {}) : sleep(1)))
      calls.push(
        call.then(
          () => outcomes.answered++,
          () => (hangs ? outcomes.hung++ : outcomes.refused++),
        ),
      )
      await sleep(2)
    }
    await Promise.all(calls)
    expect(outcomes).toEqual({ answered: 100, refused: 0, hung: 50 })
  })
})
