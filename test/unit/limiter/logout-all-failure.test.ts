import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { SessmgrError } from '../../../src/ground/errors.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import type { SessmgrStore } from '../../../src/stores/store.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'

const unavailable = () => Promise.reject(new SessmgrError('store_unavailable', 'The store is away.'))

/** A store whose site-wide logout fails, before or after it has taken effect, and whose stamping may fail too. */
function failingStore(takesEffect: boolean) {
  const store = memoryStore()
  const state = { advanceFails: false, restampFails: false, afterFailure: undefined as number | undefined }
  const failing: SessmgrStore = {
    ...store,
    epoch: {
      current: () => store.epoch.current(),
      advance: () => store.epoch.advance(),
      async advanceFrom(generation) {
        if (!state.advanceFails || takesEffect) await store.epoch.advance()
        return state.advanceFails ? unavailable() : { generation: generation + 1, epoch: 0 }
      },
    },
    sessions: Object.assign(Object.create(store.sessions), {
      read: store.sessions.read.bind(store.sessions),
      useOf: store.sessions.useOf.bind(store.sessions),
      commit: store.sessions.commit.bind(store.sessions),
      restamp: (userId: number, token: string, generation: number, version?: string) =>
        state.restampFails && generation === state.afterFailure
          ? unavailable()
          : store.sessions.restamp(userId, token, generation, version),
    }),
  }
  return { store: failing, state }
}

describe('a site-wide logout that fails half way', () => {
  it('rule 17: does not leave the session of its caller exempt from the next one', async () => {
    const { store, state } = failingStore(false)
    const world = createLimiterWorld({ store })
    const id = (await world.login(1)) ?? ''
    state.advanceFails = true
    await expect(world.limiter.sessions.logoutAllUsers({ userId: 1, token: tokenOf(id) })).rejects.toThrow('away')
    state.advanceFails = false
    await world.limiter.sessions.logoutAllUsers()
    expect(await world.live(1)).toEqual([])
  })

  it('leaves its caller signed in when it took effect and only the answer was lost', async () => {
    const { store, state } = failingStore(true)
    const world = createLimiterWorld({ store })
    const id = (await world.login(1)) ?? ''
    await world.login(2)
    state.advanceFails = true
    await expect(world.limiter.sessions.logoutAllUsers({ userId: 1, token: tokenOf(id) })).rejects.toThrow('away')
    expect(await world.live(1)).toEqual([id])
    expect(await world.live(2)).toEqual([])
  })

  it('puts the session right as soon as the store is back', async () => {
    const { store, state } = failingStore(false)
    const world = createLimiterWorld({ store })
    const id = (await world.login(1)) ?? ''
    Object.assign(state, { advanceFails: true, restampFails: true, afterFailure: 0 })
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    await expect(world.limiter.sessions.logoutAllUsers({ userId: 1, token: tokenOf(id) })).rejects.toThrow('away')
    expect((await store.sessions.useOf(1, tokenOf(id)))?.generation).toBe(1)
    Object.assign(state, { advanceFails: false, restampFails: false })
    await vi.advanceTimersByTimeAsync(1000)
    vi.useRealTimers()
    await sleep(1)
    expect((await store.sessions.useOf(1, tokenOf(id)))?.generation).toBe(0)
  })

  it('rule 5: does not revive the session after later logouts, when a login may have its place', async () => {
    const { store, state } = failingStore(false)
    const world = createLimiterWorld({ store, settings: { maximum: 1, logic: 'block' } })
    const id = (await world.login(1)) ?? ''
    Object.assign(state, { advanceFails: true, restampFails: true, afterFailure: 0 })
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    await expect(world.limiter.sessions.logoutAllUsers({ userId: 1, token: tokenOf(id) })).rejects.toThrow('away')
    Object.assign(state, { advanceFails: false, restampFails: false })
    await world.limiter.sessions.logoutAllUsers()
    await world.limiter.sessions.logoutAllUsers()
    const next = await world.login(1)
    await vi.advanceTimersByTimeAsync(1000)
    vi.useRealTimers()
    await sleep(1)
    expect(await world.live(1)).toEqual([next])
  })

  it('gives the session up after it has tried for ten minutes', async () => {
    const { store, state } = failingStore(false)
    const world = createLimiterWorld({ store })
    const id = (await world.login(1)) ?? ''
    Object.assign(state, { advanceFails: true, restampFails: true, afterFailure: 0 })
    const restamp = vi.spyOn(store.sessions, 'restamp')
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    await expect(world.limiter.sessions.logoutAllUsers({ userId: 1, token: tokenOf(id) })).rejects.toThrow('away')
    restamp.mockClear()
    await vi.advanceTimersByTimeAsync(599_999)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(restamp).toHaveBeenCalledTimes(600)
    expect(vi.getTimerCount()).toBe(0)
  })
})
