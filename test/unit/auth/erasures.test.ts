import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Erasures, LEAST_ERASURE_MS } from '../../../src/auth/erasures.ts'
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
    const { sequence, at } = (await store.sessions.erase?.('alice')) ?? {}
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
