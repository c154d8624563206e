import { afterEach, describe, expect, it, test, vi } from 'vitest'
import type { HostSessionData } from '../../../src/guard/host-types.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { createGuardWorld, sessionData } from '../../support/guard-world.ts'
import { TestStore } from '../../support/test-store.ts'

const HOUR = 3_600_000

/** A login session that its process has just signed in, and the cookie with the life that it has after this use. */
async function signedIn(touchEveryMs?: number, store = new TestStore()) {
  const world = createGuardWorld({ touchEveryMs, store })
  const data = await world.signIn('a', 7)
  world.clock.advance(1000)
  const lastSeen = async () => (await world.records(7)).map(({ lastSeenAt }) => world.clock.now() - lastSeenAt)
  return { ...world, data, lastSeen }
}

describe('noting the use of a session', () => {
  it('tells the registry and the store, with the life that its cookie has', async () => {
    const { guard, data, lastSeen, records, clock, store } = await signedIn()
    data.cookie = sessionData({}, HOUR).cookie as NonNullable<typeof data.cookie>
    await guard.touch('a', data)
    expect(await lastSeen()).toEqual([0])
    expect(((await records(7))[0]?.expiresAt ?? 0) - clock.now()).toBeGreaterThan(HOUR - 10_000)
    expect(store.read('a')?.cookie).toMatchObject({ originalMaxAge: HOUR })
  })

  it('tells the store alone as long as the registry has just been told', async () => {
    const { guard, data, lastSeen, clock, store } = await signedIn()
    await guard.touch('a', data)
    clock.advance(500)
    const expires = new Date(Date.now() + HOUR)
    await guard.touch('a', { ...data, cookie: { ...data.cookie, expires } })
    expect(await lastSeen()).toEqual([500])
    expect(store.read('a')?.cookie).toMatchObject({ expires: expires.toISOString() })
  })

  it('tells the store alone of a visitor', async () => {
    const { guard, calls, store } = await signedIn()
    await calls.set('visitor', sessionData())
    await guard.touch('visitor', sessionData({}, HOUR))
    expect(store.read('visitor')?.cookie).toMatchObject({ originalMaxAge: HOUR })
  })

  it.each([
    { what: 'ends a session in the store that is registered no more', wiped: false, left: [] },
    { what: 'leaves it when it is the registry that was wiped', wiped: true, left: ['a'] },
  ])('$what', async ({ wiped, left }) => {
    const { guard, data, memory, endInRegistry, store } = await signedIn()
    await (wiped ? memory.wipe() : endInRegistry(7, 'a'))
    await guard.touch('a', data)
    expect(store.ids()).toEqual(left)
  })

  it('forgets a session that is registered no more', async () => {
    const { guard, data, endInRegistry } = await signedIn()
    await guard.touch('a', data)
    await endInRegistry(7, 'a')
    expect(guard.canWait('a', data), 'while this process has not heard of it').toBe(true)
    data.cookie = sessionData({}, HOUR).cookie as NonNullable<typeof data.cookie>
    await guard.touch('a', data)
    expect(guard.canWait('a', data)).toBe(false)
  })

  it('breaks off no answer: a failure is logged, without the session id', async () => {
    const world = createGuardWorld()
    const data = await world.signIn('raw-id', 7)
    vi.spyOn(world.memory.sessions, 'touch').mockRejectedValue(new Error('no raw-id'))
    await world.guard.touch('raw-id', data)
    const details = { token: tokenOf('raw-id'), error: expect.stringContaining('no <session id>') }
    expect(world.logged).toEqual([[expect.stringContaining('could not be saved'), details]])
  })
})

describe('noting the use of a session for a request that waits', () => {
  /** Counts what it is told of sessions in use. */
  class CountingStore extends TestStore {
    touches = 0
    failure: Error | undefined

    override touch(...[sessionId, data, callback]: Parameters<TestStore['touch']>): void {
      this.touches += 1
      if (this.failure) callback?.(this.failure)
      else super.touch(sessionId, data, callback)
    }
  }

  async function counted() {
    const store = new CountingStore()
    const world = await signedIn(60_000, store)
    const noteUse = (data: HostSessionData, sessionId = 'a') =>
      new Promise<void>((done) => world.guard.noteUse(sessionId, data, done))
    return { ...world, store, noteUse }
  }

  const forBrowser = (data: HostSessionData) => ({ ...data, cookie: { ...data.cookie, expires: null } })

  it('tells registry and store, and nobody again as long as that can wait', async () => {
    const { data, lastSeen, noteUse, store } = await counted()
    await noteUse(data)
    expect([await lastSeen(), store.touches]).toEqual([[0], 1])
    await noteUse(data)
    expect(store.touches).toBe(1)
  })

  it('tells the store alone, each time, of a session that ends with the browser', async () => {
    const { data, memory, noteUse, store } = await counted()
    const asked = vi.spyOn(memory.sessions, 'touch')
    for (const _use of [1, 2, 3]) await noteUse(forBrowser(data))
    expect([asked.mock.calls.length, store.touches]).toEqual([1, 3])
  })

  it('breaks off no answer: a failure is logged, without the session id', async () => {
    const { logged, noteUse, signIn, store } = await counted()
    const data = forBrowser(await signIn('raw-id', 8))
    await noteUse(data, 'raw-id')
    store.failure = new Error('no raw-id')
    await noteUse(data, 'raw-id')
    const details = { token: tokenOf('raw-id'), error: expect.stringContaining('no <session id>') }
    expect(logged).toEqual([[expect.stringContaining('could not be saved'), details]])
  })

  it('calls back in a turn of its own, whatever the store does', async () => {
    const { data, guard, noteUse } = await counted()
    for (const each of [data, forBrowser(data)]) {
      await noteUse(each)
      let isCalled = false
      const called = new Promise<void>((resolve) => {
        guard.noteUse('a', each, () => {
          isCalled = true
          resolve()
        })
      })
      expect(isCalled).toBe(false)
      await called
    }
  })
})

describe('whether noting a use can wait', () => {
  afterEach(() => void vi.useRealTimers())

  test('it can from a note on, for the time that the application asks for', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { guard, data } = await signedIn(5000)
    expect(guard.canWait('a', data), 'before the first note').toBe(false)
    await guard.touch('a', data)
    vi.advanceTimersByTime(4999)
    expect(guard.canWait('a', data), 'just before').toBe(true)
    vi.advanceTimersByTime(1)
    expect(guard.canWait('a', data), 'after that').toBe(false)
  })

  test('it cannot when the cookie tells no expiry, when its life has changed, nor for another session', async () => {
    const { guard, data } = await signedIn()
    await guard.touch('a', data)
    expect(guard.canWait('a', data)).toBe(true)
    expect(guard.canWait('a', { ...data, cookie: { ...data.cookie, expires: null } })).toBe(false)
    expect(guard.canWait('a', sessionData({}, HOUR))).toBe(false)
    expect(guard.canWait('b', data)).toBe(false)
  })
})
