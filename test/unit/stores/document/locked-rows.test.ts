import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type DocumentDriver, documentStore } from '../../../../src/document.ts'
import { deferred, nextTurn } from '../../../support/deferred.ts'
import { MemoryRows } from '../../../support/memory-driver.ts'

describe('writes of rows that other clients may have locked', () => {
  const MINUTE = 60_000
  const DEADLINE = 200
  const unavailable = expect.objectContaining({ code: 'store_unavailable', status: 503 })
  const reasons = (calls: readonly Promise<unknown>[]) => Promise.all(calls.map((call) => call.catch((it) => it)))
  const names = (count: number) => Array.from({ length: count }, (_, n) => `locked ${n}`)

  /** A store in which writes of all or some rows hang until they are let go, and those of one row are always late. */
  function locked(isLocked = (_name: string) => true, deadlineMs = DEADLINE, busy?: string) {
    const driver = new MemoryRows().driver()
    const hanging: ((isWritten: boolean) => void)[] = []
    let isOver = false
    let pending = 0
    let mostPending = 0
    let conflicts = 0
    const swap: DocumentDriver['swap'] = async (...call) => {
      pending += 1
      mostPending = Math.max(mostPending, pending)
      const lock = deferred<boolean>()
      const name = decodeURIComponent(call[0].slice(2))
      const hangs = !isOver && isLocked(name)
      const loses = !isOver && name === busy
      if (loses) conflicts += 1
      if (hangs) hanging.push(lock.resolve)
      const isWritten = await (hangs ? lock.promise : !loses && driver.swap(...call))
      pending -= 1
      return isWritten
    }
    const store = documentStore({ ...driver, swap }, { deadlineMs })
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
    return { store, hanging, set, outcome, unlock, mostPending: () => mostPending, conflicts: () => conflicts }
  }

  /** Lets time pass for the store, at once. */
  function passingTime() {
    const real = performance.now.bind(performance)
    let ahead = 0
    const now = vi.spyOn(performance, 'now').mockImplementation(() => real() + ahead)
    onTestFinished(() => now.mockRestore())
    return (ms: number) => {
      ahead += ms
    }
  }

  it('are refused while one of them hangs, without another statement, and go on after it', async () => {
    const { store, hanging, set, unlock } = locked()
    const tries = Array.from({ length: 20 }, () => set('a'))
    expect(await reasons(tries)).toEqual(tries.map(() => unavailable))
    await expect(set('a')).rejects.toEqual(unavailable)
    expect(hanging).toHaveLength(1)
    // Neither reads nor other rows wait for it, and it is no sign that the database does not respond.
    expect(await store.transients.get('a')).toBeUndefined()
    const other = set('b')
    await nextTurn()
    expect(hanging).toHaveLength(2)
    await unlock()
    await Promise.all([other, set('a')])
    expect(await store.transients.get('a')).toBe('')
  })

  it('are tried again a minute later, and then more and more seldom, because a connection may be dead', async () => {
    const { hanging, set, unlock } = locked()
    const pass = passingTime()
    const sent: number[] = []
    for (const minutes of [0, 0.5, 1, 5, 10, 50, 100]) {
      pass(minutes * MINUTE)
      await expect(set('a')).rejects.toEqual(unavailable)
      sent.push(hanging.length)
    }
    expect(sent).toEqual([1, 1, 2, 2, 3, 3, 4])
    await unlock()
    await set('a')
  })

  it('hold few connections for hours when many rows are locked', async () => {
    const { store, hanging, outcome, unlock } = locked()
    const pass = passingTime()
    const held: number[] = []
    let before = 0
    for (const minute of [0, 1, 2, 10.5, 30, 60, 150]) {
      pass((minute - before) * MINUTE)
      before = minute
      for (const name of names(40)) expect(await outcome(name)).toBe('store_unavailable')
      held.push(hanging.length)
    }
    expect(held).toEqual([6, 7, 7, 7, 8, 8, 9])
    expect(await store.epoch.current()).toMatchObject({ generation: 0 })
    await unlock()
    // On a busy machine, the deadline of the first tries may be over.
    const all = async () => new Set(await Promise.all(names(40).map(outcome)))
    await expect.poll(all).toEqual(new Set(['written']))
  })

  it('hold few connections also before the first of them is given up', async () => {
    const { hanging, set, unlock, mostPending } = locked()
    const pass = passingTime()
    const first = names(4).map(set)
    await nextTurn()
    await nextTurn()
    pass(DEADLINE / 4)
    const calls = [...first, ...names(40).slice(4).map(set)]
    expect(await reasons(calls)).toEqual(calls.map(() => unavailable))
    expect([hanging.length, mostPending()]).toEqual([6, 6])
    await unlock()
  })

  it.each([
    [3, 40],
    // Six writes, with that of the busy row.
    [4, 5],
  ])('are not slow while other processes keep writing their row, next to %i that hang', async (count, sent) => {
    const { hanging, set, unlock, conflicts } = locked((name) => name.startsWith('locked'), 10_000, 'busy')
    const pass = passingTime()
    const busy = set('busy')
    await expect.poll(conflicts).toBeGreaterThan(1)
    const first = names(count).map(set)
    await expect.poll(() => hanging.length).toBe(count)
    pass(2000)
    const before = conflicts()
    await expect.poll(conflicts).toBeGreaterThan(before + 1)
    await set('free')
    const others = names(40).slice(count).map(set)
    await nextTurn()
    await nextTurn()
    expect(hanging).toHaveLength(sent)
    await unlock()
    await Promise.all([busy, ...first, ...others])
  })

  it.each([
    [5, 0],
    [6, 1],
  ])('go on for other rows while %i rows are locked, from minute %i on', async (count, since) => {
    const { hanging, outcome } = locked((name) => name.startsWith('locked'))
    const pass = passingTime()
    let before = 0
    for (const minute of [0, 1, 2, 12, 13, 60]) {
      pass((minute - before) * MINUTE)
      before = minute
      for (const name of names(count)) expect(await outcome(name)).toBe('store_unavailable')
      const others = Array.from({ length: 20 }, (_, n) => outcome(`free ${n}`))
      expect(new Set(await Promise.all(others))).toEqual(new Set([minute < since ? 'store_unavailable' : 'written']))
    }
    // The others found out whether the rows were still locked.
    expect(hanging.length).toBeLessThanOrEqual(7)
  })
})
