import { afterEach, describe, expect, it, test, vi } from 'vitest'
import { SiteSecrets } from '../../../src/auth/site-secrets.ts'
import type { HostSessionData, HostStore } from '../../../src/door/host-types.ts'
import { goOnWith, judgeSession } from '../../../src/door/load.ts'
import { hasEnded } from '../../../src/door/save.ts'
import { SessionGuards } from '../../../src/door/session-guard.ts'
import { SessionStores } from '../../../src/door/stores/session-stores.ts'
import { storeCalls } from '../../../src/door/stores/store-calls.ts'
import { memoryStore } from '../../../src/index.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { deferred } from '../../support/deferred.ts'
import { continuedBy, createGuardWorld, noteOrigin, sessionData, visitorRequest } from '../../support/guard-world.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'
import { clientRequest, createLoginHost } from '../../support/login-host.ts'
import { TestStore } from '../../support/test-store.ts'

const session = (userId: number, sessionId: string) => ({ userId, token: tokenOf(sessionId) })

describe('destroying a session', () => {
  test.each([
    ['of a user that this process knows', false],
    ['that only another process has seen, by its pair', true],
  ])('%s frees its slot', async (_, elsewhere) => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    await (elsewhere ? world.twin() : world).guard.destroy('a')
    expect([await world.registered(7), world.store.ids()]).toEqual([[], []])
    expect(world.fired).toEqual([])
  })

  test('of a visitor, or one that is unknown, frees none', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    await world.calls.set('visitor', sessionData())
    const released = vi.spyOn(world.memory.sessions, 'end')
    await world.twin().guard.destroy('visitor')
    await world.guard.destroy('unknown')
    expect(released).not.toHaveBeenCalled()
    expect(world.store.ids()).toEqual(['a'])
  })

  test('forgets it: it is not asked about again', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    await world.guard.destroy('a')
    const asked = vi.spyOn(world.memory.sessions, 'useOf')
    expect(await world.guard.load('a')).toEqual({})
    expect(asked).not.toHaveBeenCalled()
  })

  test('leaves it in the store while its slot cannot be freed', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    vi.spyOn(world.memory.sessions, 'end').mockRejectedValue(new Error('down'))
    await expect(world.guard.destroy('a')).rejects.toThrow('down')
    expect(world.store.ids()).toEqual(['a'])
  })
})

describe('the session on which a request goes', () => {
  /** A request that was loaded with a session of user 7. */
  async function loaded() {
    const world = createGuardWorld()
    const data = await world.signIn('a', 7)
    const request = visitorRequest()
    noteOrigin(world.guard, request, data, session(7, 'a'))
    return { ...world, request }
  }

  it('has not ended while it is live, nor where there is none', async () => {
    const { guard, request } = await loaded()
    expect([await hasEnded(guard, request), await hasEnded(guard, visitorRequest())]).toEqual([false, false])
  })

  it('has ended once the registry says so', async () => {
    const { guard, request, endInRegistry } = await loaded()
    await endInRegistry(7, 'a')
    expect(await hasEnded(guard, request)).toBe(true)
  })

  it('is continued by a login of the same user, not of another', async () => {
    const { request } = await loaded()
    expect(await continuedBy(request, '7')).toBe(tokenOf('a'))
    expect(await continuedBy(request, 8)).toBeUndefined()
    expect(await continuedBy(visitorRequest(), 7)).toBeUndefined()
  })

  it('is neither ended nor continued after the request gave it up while it was live', async () => {
    const { guard, request } = await loaded()
    await guard.destroy('a', request)
    expect([await hasEnded(guard, request), await continuedBy(request, 7)]).toEqual([false, undefined])
  })

  it('has ended although the request gave it up, when it was over before', async () => {
    const { guard, request, endInRegistry } = await loaded()
    await endInRegistry(7, 'a')
    await guard.destroy('a', request)
    expect([await hasEnded(guard, request), await continuedBy(request, 7)]).toEqual([true, tokenOf('a')])
  })

  it('is waited for while it is being given up', async () => {
    const { guard, request, memory } = await loaded()
    const end = memory.sessions.end.bind(memory.sessions)
    const answer = deferred()
    vi.spyOn(memory.sessions, 'end').mockImplementation(async (...call) => {
      const ended = await end(...call)
      await answer.promise
      return ended
    })
    const destroyed = guard.destroy('a', request)
    const ended = hasEnded(guard, request)
    answer.resolve()
    expect(await ended).toBe(false)
    await destroyed
  })
})

describe('leaving a session by a login', () => {
  it('ends it: the slot of whoever held it, and what the store has', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    const request = visitorRequest()
    noteOrigin(world.guard, request, {}, session(7, 'a'))
    await world.guard.leave('a', 7, request)
    expect([await world.registered(7), world.store.ids()]).toEqual([[], []])
    expect(await hasEnded(world.guard, request)).toBe(false)
  })

  it('removes that of a visitor, and frees no slot', async () => {
    const world = createGuardWorld()
    await world.calls.set('visitor', sessionData())
    const released = vi.spyOn(world.memory.sessions, 'end')
    await world.guard.leave('visitor', undefined, visitorRequest())
    expect(world.store.ids()).toEqual([])
    expect(released).not.toHaveBeenCalled()
  })

  it('fails no login: a failure is logged, without the session id', async () => {
    const world = createGuardWorld()
    await world.signIn('raw-id', 7)
    world.store.undeletable.add('raw-id')
    await world.guard.leave('raw-id', 7, visitorRequest())
    expect(world.logged).toEqual([
      [
        expect.stringContaining('could not be ended'),
        { token: tokenOf('raw-id'), error: expect.stringContaining('does not destroy') },
      ],
    ])
    expect(JSON.stringify(world.logged)).not.toContain('raw-id')
  })
})

test('a pair is that of the session that it was written for, and of no other', async () => {
  const { guard } = createGuardWorld()
  await guard.ready()
  const data = sessionData()
  guard.pair('a', data, session(7, 'a'))
  expect(guard.pairOf('a', data)).toMatchObject(session(7, 'a'))
  expect(guard.pairOf('b', data)).toBeUndefined()
})

test('a request goes on with the live login session that it was loaded with', async () => {
  const { guard, signIn } = createLoginHost()
  const request = clientRequest(await signIn('before', 7))
  expect(await judgeSession(guard, request)).toBe(false)
  expect(request.sessmgr).toEqual({ session: session(7, 'before') })
  expect(await continuedBy(request, 7)).toBe(tokenOf('before'))
  expect(request.attended).toContain(request.session)
})

test('a session from before sessmgr gets its pair', async () => {
  const { guard } = createLoginHost()
  const data = sessionData({ user: 7 })
  await judgeSession(guard, clientRequest(data))
  expect(guard.pairOf('before', data)).toMatchObject(session(7, 'before'))
})

test('a session keeps a pair that is its own', async () => {
  const { guard, signIn } = createLoginHost()
  const data = await signIn('before', 7)
  const pair = data.sessmgr
  await judgeSession(guard, clientRequest(data))
  goOnWith(guard, clientRequest(data), session(7, 'before'))
  expect(data.sessmgr).toBe(pair)
})

test('the host has to replace a session that is over', async () => {
  const { guard, signIn, endInRegistry } = createLoginHost()
  const request = clientRequest(await signIn('before', 7))
  await endInRegistry(7, 'before')
  expect(await judgeSession(guard, request)).toBe(true)
  expect(request.sessmgr).toEqual({ ended: { reason: 'ended' } })
  expect(request.attended).toEqual([])
})

test('a request without a session, or with that of a visitor, is nobody', async () => {
  const { guard } = createLoginHost()
  for (const request of [clientRequest(), clientRequest(sessionData())]) {
    request.sessmgr = { session: session(7, 'before') }
    expect(await judgeSession(guard, request)).toBe(false)
    expect(request.sessmgr).toEqual({})
  }
  const request = clientRequest()
  goOnWith(guard, request, session(7, 'before'))
  expect(request.sessmgr, 'there is no session to go on with').toEqual({})
})

test('every store has one guard, whose sessions the limiter counts', async () => {
  const [store, logger] = [memoryStore(), { warn() {}, error() {} }]
  const siteSecrets = new SiteSecrets(store.options, [])
  const stores = new SessionStores({ deadlineMs: 500, store })
  const { limiter } = createLimiterWorld({ store, hostSessions: stores })
  const guards = new SessionGuards(stores, limiter, {
    logger,
    siteSecrets,
    touchEveryMs: 0,
    deadlineMs: 500,
    sessionCacheSize: 100,
    store,
    sessionUser: () => 7,
  })
  const makeCalls = vi.fn(storeCalls)
  const [one, other] = [new TestStore(), new TestStore()] as unknown as [HostStore, HostStore]
  const guarded = guards.of(one, makeCalls)
  expect(guards.of(one, makeCalls)).toBe(guarded)
  expect(makeCalls.mock.calls).toEqual([[one, 500]])
  expect(guards.of(other, storeCalls)).not.toBe(guarded)
  await guarded.save('a', {})
  expect(await limiter.sessions.count(7)).toBe(1)
})

const HOUR = 3_600_000

/** A login session that its process has just signed in, and the cookie with the life that it has after this use. */
async function signedIn(touchEveryMs?: number, store = new TestStore()) {
  const world = createGuardWorld({ touchEveryMs, store })
  const data = await world.signIn('a', 7)
  world.clock.advance(10_000)
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
