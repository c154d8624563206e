import { describe, expect, it } from 'vitest'
import { createKeyedQueue, withDeadline } from '../../../src/ground/deadline.ts'
import { deferred, nextTurn } from '../../support/deferred.ts'

const tooLate = () => new Error('too late')
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

describe('withDeadline', () => {
  it('leaves no timer behind, whichever way the promise settles', async () => {
    const before = timers()
    const waiting = [withDeadline(Promise.resolve(), 60_000, tooLate), withDeadline(Promise.reject(1), 60_000, tooLate)]
    expect(timers()).toBe(before + 2)
    await Promise.allSettled(waiting)
    expect(timers()).toBe(before)
  })

  it('swallows a rejection that comes after the deadline', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    let fail: (reason: Error) => void = () => {}
    const late = new Promise<never>((_, reject) => {
      fail = reject
    })
    await expect(withDeadline(late, 1, tooLate)).rejects.toThrow('too late')
    fail(new Error('late'))
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })
})

const LONG = 60_000

describe('the queue of a user', () => {
  it('runs tasks of one user one after the other, in order', async () => {
    const inTurn = createKeyedQueue(LONG)
    const gates = [deferred(), deferred(), deferred()]
    const events: string[] = []
    const runs = gates.map(({ promise }, index) =>
      inTurn('a', async () => {
        events.push(`${index} begins`)
        await promise
        events.push(`${index} ends`)
      }),
    )
    // Opening the gates from the last to the first shows that it is the queue that keeps the order.
    gates[2]?.resolve()
    gates[1]?.resolve()
    await nextTurn()
    expect(events).toEqual(['0 begins'])
    gates[0]?.resolve()
    await Promise.all(runs)
    expect(events).toEqual(['0 begins', '0 ends', '1 begins', '1 ends', '2 begins', '2 ends'])
  })

  it('has a timer only while another task waits', async () => {
    const inTurn = createKeyedQueue(LONG)
    const [before, gate] = [timers(), deferred()]
    const held = inTurn('a', () => gate.promise)
    expect(timers()).toBe(before)
    const next = inTurn('a', async () => {})
    expect(timers()).toBe(before + 1)
    gate.resolve()
    await Promise.all([held, next])
    expect(timers()).toBe(before)
  })

  it('does not let a late end of a hanging task disturb those that run by then', async () => {
    const inTurn = createKeyedQueue(10)
    const [hanging, second] = [deferred(), deferred()]
    let thirdRan = false
    const first = inTurn('a', () => hanging.promise)
    const begun = deferred()
    const next = inTurn('a', () => {
      begun.resolve()
      return second.promise
    })
    await begun.promise
    hanging.resolve()
    await first
    const third = inTurn('a', async () => {
      thirdRan = true
    })
    await Promise.resolve()
    expect(thirdRan).toBe(false)
    second.resolve()
    await Promise.all([next, third])
    expect(thirdRan).toBe(true)
  })
})
