import { expect, it, vi } from 'vitest'
import { Erasures, recordedName } from '../../../src/auth/erasures.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'

it('marks each user, and the name under which one was recorded, for 400 days, and tells everybody', async () => {
  const { transients, sessions } = memoryStore()
  const set = vi.spyOn(transients, 'set')
  const erasures = new Erasures({ transients, sessions })
  const before = await erasures.generation()
  const recorded = recordedName('alice')
  await erasures.mark([recorded], 1000)
  expect(await erasures.generation()).not.toBe(before)
  const names = [recorded, 'alice', recordedName('bob')]
  expect(await Promise.all(names.map((name) => erasures.of(name)))).toEqual([1000, undefined, undefined])
  expect(set.mock.calls.map(([, , life]) => life)).toEqual([400 * 24 * 60 * 60_000])
})

it('rule 77: stores nothing apart from the document of a user who is erased before, meanwhile, or right after', async () => {
  const { transients, sessions } = memoryStore()
  const erasures = new Erasures({ transients, sessions })
  const undo = vi.fn(async () => {})
  await erasures.mark(['alice'], 1)
  expect(await erasures.unlessErased('alice', async () => 'stored', undo)).toBe('stored')
  const meanwhile = erasures.unlessErased('alice', () => erasures.mark(['alice'], 2), undo)
  await expect(meanwhile).rejects.toMatchObject({ code: 'session_ended' })
  expect(undo).toHaveBeenCalledTimes(1)
  await sessions.erase('alice')
  const work = vi.fn(async () => {})
  await expect(erasures.unlessErased('alice', work, undo)).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(work).not.toHaveBeenCalled()
})

it('says how far the clock of this process is ahead of the store', async () => {
  const { transients } = memoryStore()
  const sessions = { read: async () => ({ now: Date.now() - 5000 }) as never, quietMs: 0 }
  expect(Math.round((await new Erasures({ transients, sessions }).clockAhead()) / 100)).toBe(50)
})
