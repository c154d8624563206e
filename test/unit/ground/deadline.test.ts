import { describe, expect, it } from 'vitest'
import { withDeadline } from '../../../src/ground/deadline.ts'

const tooLate = () => new Error('too late')
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

describe('withDeadline', () => {
  it('gives the value of a promise that settles in time', async () => {
    await expect(withDeadline(Promise.resolve(7), 1000, tooLate)).resolves.toBe(7)
  })

  it('gives the reason of a promise that rejects in time', async () => {
    const reason = new Error('broken')
    await expect(withDeadline(Promise.reject(reason), 1000, tooLate)).rejects.toBe(reason)
  })

  it('rejects with what onTimeout makes when the promise never settles', async () => {
    await expect(withDeadline(new Promise(() => {}), 5, tooLate)).rejects.toThrow('too late')
  })

  it('accepts any object that can be awaited', async () => {
    // biome-ignore lint/suspicious/noThenProperty: a foreign promise is what this case is about.
    const thenable: PromiseLike<string> = { then: (ok) => Promise.resolve('foreign').then(ok) }
    await expect(withDeadline(thenable, 1000, tooLate)).resolves.toBe('foreign')
  })

  it('makes no error when the promise is in time', async () => {
    let made = 0
    await withDeadline(Promise.resolve(), 1000, () => {
      made += 1
      return tooLate()
    })
    expect(made).toBe(0)
  })

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
