import { describe, expect, it } from 'vitest'
import { type DocumentDriver, documentStore } from '../../../../src/document.ts'
import { deferred, nextTurn } from '../../../support/deferred.ts'
import { MemoryRows } from '../../../support/memory-driver.ts'
import { passingTime } from '../../../support/passing-time.ts'

describe('writes of rows that other clients may have locked', () => {
  const MINUTE = 60_000
  const DEADLINE = 200
  const unavailable = expect.objectContaining({ code: 'store_unavailable', status: 503 })

  /** A store in which writes of all or some rows hang until they are let go. */
  function locked(isLocked = (_name: string) => true) {
    const driver = new MemoryRows().driver()
    const hanging: ((isWritten: boolean) => void)[] = []
    let isOver = false
    const swap: DocumentDriver['swap'] = async (...call) => {
      const lock = deferred<boolean>()
      const name = decodeURIComponent(call[0].slice(2))
      const hangs = !isOver && isLocked(name)
      if (hangs) hanging.push(lock.resolve)
      return hangs ? lock.promise : driver.swap(...call)
    }
    const store = documentStore({ ...driver, swap }, { deadlineMs: DEADLINE })
    const set = (name: string) => store.transients.set(name, '', 60_000)
    const outcome = (name: string) =>
      set(name).then(
        () => 'written',
        (error) => error.code,
      )
    const unlock = async () => {
      isOver = true
      for (const release of hanging) release(false)
      await nextTurn()
    }
    return { store, hanging, set, outcome, unlock }
  }

  it('are tried again a minute later, and then more and more seldom, because a connection may be dead', async () => {
    const { hanging, set, unlock } = locked()
    const pass = passingTime()
    const sent: number[] = []
    for (const minutes of [0, 0.5, 1, 5, 10, 50, 100]) {
      pass(minutes * MINUTE)
      await expect(set('a')).rejects.toEqual(unavailable)
      sent.push(hanging.length)
    }
    await expect(set('a')).rejects.toThrow(/^Earlier writes .* lock/)
    expect(sent).toEqual([1, 1, 2, 2, 3, 3, 4])
    await unlock()
    await set('a')
  })
})
