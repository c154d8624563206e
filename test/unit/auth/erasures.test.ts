import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Erasures, LEAST_ERASURE_MS, recordedName } from '../../../src/auth/erasures.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { deferred } from '../../support/deferred.ts'

/** A store whose marks can be read late, and the erasure of a user in it. */
function erasing() {
  const store = memoryStore()
  const late = { until: Promise.resolve() }
  const transients = Object.create(store.transients, {
    get: { value: (key: string) => late.until.then(() => store.transients.get(key)) },
  })
  const [erasures, slow] = [new Erasures(store), new Erasures({ transients, sessions: store.sessions })]
  const erase = async () => {
    const begun = await erasures.begin('alice')
    const { sequence, at } = await store.sessions.erase('alice')
    vi.advanceTimersByTime(LEAST_ERASURE_MS)
    await erasures.note(['alice'], { ...begun, sequence, at, isRunning: false })
  }
  return { erasures, slow, late, erase }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

describe('rule 63: work about a user that began before the user was erased', () => {
  it('is told so, also where the store answers only after the erasure', async () => {
    const { erasures, slow, late, erase } = erasing()
    const held = deferred()
    late.until = held.promise
    const [early, delayed] = [await erasures.before('alice'), slow.before('alice')]
    await erase()
    held.resolve()
    expect(await erasures.hasChanged('alice', early)).toBe(true)
    expect(await erasures.hasChanged('alice', await delayed)).toBe(true)
  })

  it('is told so while the erasure is in progress, and when it has finished', async () => {
    const { erasures, erase } = erasing()
    await erasures.begin('alice')
    const during = await erasures.before('alice')
    expect(await erasures.hasChanged('alice', during)).toBe(true)
    await erase()
    expect(await erasures.hasChanged('alice', during)).toBe(true)
  })

  it('is not mistaken for work about a new user with the same id', async () => {
    const { erasures, erase } = erasing()
    await erase()
    expect(await erasures.hasChanged('alice', await erasures.before('alice'))).toBe(false)
    expect(await erasures.hasChanged('bob', await erasures.before('bob'))).toBe(false)
  })
})

describe('the mark of an erasure', () => {
  it('lasts ten minutes while the erasure runs, and then 400 days', async () => {
    const { transients, sessions } = memoryStore()
    const set = vi.spyOn(transients, 'set')
    const erasures = new Erasures({ transients, sessions })
    const begun = await erasures.begin('alice')
    await erasures.note(['alice'], begun)
    await erasures.note(['alice', 'bob'], { ...begun, isRunning: false })
    const [minutes, days] = [10 * 60_000, 400 * 24 * 60 * 60_000]
    expect(set.mock.calls.map(([, , life]) => life)).toEqual([minutes, minutes, days, days])
  })

  it('differs for each user and for the name under which one was recorded, and is noticed by everybody', async () => {
    const { transients, sessions } = memoryStore()
    const erasures = new Erasures({ transients, sessions })
    const before = await erasures.generation()
    const recorded = recordedName('alice')
    const begun = await erasures.begin(recorded)
    await erasures.note([recorded], { ...begun, isRunning: false })
    expect(await erasures.generation()).not.toBe(before)
    const marks = await Promise.all([recorded, 'alice', recordedName('bob')].map((name) => erasures.of(name)))
    expect(marks.map((mark) => mark?.id)).toEqual([begun.id, undefined, undefined])
  })
})

it('says how far the clock of this process is ahead of the store', async () => {
  const { transients } = memoryStore()
  const ahead = (now?: number) =>
    new Erasures({ transients, sessions: { read: async () => ({ now }) as never } }).clockAhead()
  expect(Math.round((await ahead(Date.now() - 5000)) / 100)).toBe(50)
  expect(Math.round((await ahead()) / 100)).toBe(0)
})
