import { describe, expect, it, onTestFinished, test, vi } from 'vitest'
import type { HostSessionData } from '../../../src/door/host-types.ts'
import { hasEnded } from '../../../src/door/save.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { deferred } from '../../support/deferred.ts'
import { createGuardWorld, noteOrigin, sessionData, visitorRequest, whileLoggingIn } from '../../support/guard-world.ts'
import { TestStore } from '../../support/test-store.ts'

const session = (userId: number, sessionId: string) => ({ userId, token: tokenOf(sessionId) })

/** A request of user 7 that was loaded with session `a`. */
async function loaded(fields: object = { user: 7 }) {
  const world = createGuardWorld()
  const data = await world.signIn('a', 7, { ...fields })
  const request = visitorRequest()
  noteOrigin(world.guard, request, data, session(7, 'a'))
  return { ...world, data, request, copy: sessionData({ ...fields }) }
}

describe('writing a session while something else happens', () => {
  it('takes it back when it is ended meanwhile, and leaves it when the registry is wiped', async () => {
    for (const isWiped of [true, false]) {
      const world = createGuardWorld()
      const data = await world.signIn('a', 7)
      const gate = world.store.holdNextWrite('a')
      const saved = world.guard.save('a', data)
      await gate.arrived
      await (isWiped ? world.memory.wipe() : world.endInRegistry(7, 'a'))
      gate.open()
      await saved
      expect(world.store.ids()).toEqual(isWiped ? ['a'] : [])
    }
  })

  it('decision 73: takes a new id back when the first session ends in that very moment, and fails', async () => {
    const { guard, request, copy, endInRegistry, registered, store } = await loaded()
    const gate = store.holdNextWrite('b')
    const saved = guard.save('b', copy, request)
    await gate.arrived
    await endInRegistry(7, 'a')
    gate.open()
    await expect(saved).rejects.toMatchObject({ code: 'session_ended', status: 401 })
    expect([store.ids(), await registered(7)]).toEqual([['a'], []])
  })

  it('fails when the registry does', async () => {
    for (const method of ['useOf', 'touch'] as const) {
      const world = createGuardWorld()
      const data = await world.signIn('a', 7)
      vi.spyOn(world.memory.sessions, method).mockRejectedValue(new Error('down'))
      await expect(world.guard.save('a', data), method).rejects.toThrow('down')
    }
  })
})

describe('writing the session of a login', () => {
  const login = { userId: 7, sessionId: 'before' }

  it('under way pairs what is written, and not the session itself: cut off, it is over', async () => {
    const { guard, store, registered } = createGuardWorld()
    await guard.ready()
    const request = visitorRequest()
    const data = sessionData({ user: 7, sessmgr: 'earlier' })
    const save = () => whileLoggingIn(request, login, () => guard.save('new', data, request))
    await save()
    expect(store.read('new')).toMatchObject({ sessmgr: { userId: 7 } })
    expect([data.sessmgr, await registered(7)]).toEqual(['earlier', []])
    expect(await guard.load('new')).toEqual({ ended: { reason: 'ended' } })
    const visitors = sessionData({ user: 7 })
    await whileLoggingIn(request, login, () => guard.save('before', visitors, request))
    expect(store.read('before'), 'it is registered next').not.toHaveProperty('sessmgr')
  })

  it('that has been admitted writes only what the store has not already', async () => {
    for (const [what, change] of [
      ['nothing new', undefined],
      ['a later expiry', { cookie: sessionData().cookie }],
      ['a field that has come', { cart: 1 }],
      ['another life', { cookie: sessionData({}, 300_000).cookie }],
      ['no expiry any more', { cookie: { originalMaxAge: null, expires: null } }],
      ['a life that is longer by half a second', { cookie: sessionData({}, 60_500).cookie }],
      ['another path of its cookie', { cookie: { ...sessionData().cookie, path: '/shop' } }],
      ['another pair', { sessmgr: undefined }],
    ] as const) {
      const world = createGuardWorld()
      await world.guard.ready()
      const request = visitorRequest()
      const data = sessionData({ user: 7 })
      await whileLoggingIn(request, login, () => world.guard.save('new', data, request))
      const established = { sessionId: 'new', ttlMs: 100, revert: async () => {} }
      await world.limiter.admit({ userId: 7 }, async () => established)
      world.guard.pair('new', data, session(7, 'new'))
      const set = vi.spyOn(world.guard.calls, 'set')
      await world.guard.save('new', Object.assign(data, change), request)
      const isWritten = change !== undefined && what !== 'a later expiry'
      expect(set.mock.calls.length, what).toBe(isWritten ? 1 : 0)
      expect(world.store.read('new')).toMatchObject({ user: 7, sessmgr: session(7, 'new') })
    }
  })
})

test('a session that has another user, or none, frees the slot of the earlier one, by whatever request', async () => {
  for (const fields of [{ user: 8 }, {}]) {
    const { guard, signIn, registered } = createGuardWorld()
    await signIn('a', 7)
    await guard.save('a', sessionData(fields))
    expect([await registered(7), await registered(8)]).toEqual([[], 'user' in fields ? ['a'] : []])
  }
})

test('visitors are taken for users whose login was not seen only if they have data, and Passport logs nobody in', async () => {
  for (const [fields, request, warnings] of [
    [{ _expire: 1, _maxAge: 1 }, undefined, 0],
    [{ passport: {} }, undefined, 0],
    [{ cart: 1 }, visitorRequest({ logIn() {} }), 0],
    [{ cart: 1, _expire: 1 }, undefined, 1],
  ] as const) {
    const { guard, logged } = createGuardWorld()
    for (const id of ['a', 'b', 'c', 'd']) await guard.save(id, sessionData(fields), request)
    expect(logged, JSON.stringify(fields)).toHaveLength(warnings)
  }
})

test('the session on which a request goes is waited for while it is being given up', async () => {
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

test('a session that is destroyed stays in the store while its slot cannot be freed', async () => {
  const world = createGuardWorld()
  await world.signIn('a', 7)
  vi.spyOn(world.memory.sessions, 'end').mockRejectedValue(new Error('down'))
  await expect(world.guard.destroy('a')).rejects.toThrow('down')
  expect(world.store.ids()).toEqual(['a'])
})

test('a session that cannot be left or touched fails nothing: that is logged, without the session id', async () => {
  const world = createGuardWorld()
  const data = await world.signIn('raw-id', 7)
  vi.spyOn(world.memory.sessions, 'touch').mockRejectedValue(new Error('no raw-id'))
  await world.guard.touch('raw-id', data)
  world.store.undeletable.add('raw-id')
  await world.guard.leave('raw-id', 7, visitorRequest())
  const token = tokenOf('raw-id')
  expect(world.logged).toEqual([
    [expect.stringContaining('could not be saved'), { token, error: expect.stringContaining('no <session id>') }],
    [expect.stringContaining('could not be ended'), { token, error: expect.stringContaining('does not destroy') }],
  ])
})

describe('noting the use of a session', () => {
  const HOUR = 3_600_000

  it('tells registry and store, then the store alone for a while, and can wait if the cookie has an expiry', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { guard, signIn, records, clock, store } = createGuardWorld({ touchEveryMs: 5000 })
    const data = await signIn('a', 7)
    data.cookie = sessionData({}, HOUR).cookie as NonNullable<typeof data.cookie>
    clock.advance(10_000)
    expect(guard.canWait('a', data), 'before the first note').toBe(false)
    await guard.touch('a', data)
    const [record] = await records(7)
    expect([record?.lastSeenAt, store.read('a')?.cookie]).toMatchObject([clock.now(), { originalMaxAge: HOUR }])
    clock.advance(500)
    await guard.touch('a', data)
    expect((await records(7))[0]?.lastSeenAt).toBe(clock.now() - 500)
    const withBrowser = { ...data, cookie: { ...data.cookie, expires: null } }
    const others = [guard.canWait('a', withBrowser), guard.canWait('a', sessionData()), guard.canWait('b', data)]
    expect(others, 'without an expiry, with another life, and of another session').toEqual([false, false, false])
    vi.advanceTimersByTime(4999)
    expect(guard.canWait('a', data), 'just before').toBe(true)
    vi.advanceTimersByTime(1)
    expect(guard.canWait('a', data), 'after that').toBe(false)
  })

  it('for a request that waits calls back in a turn of its own, whatever the store does', async () => {
    const { guard, signIn, memory } = createGuardWorld()
    const data = await signIn('a', 7)
    const asked = vi.spyOn(memory.sessions, 'touch')
    const touched = vi.fn(guard.calls.touch as NonNullable<typeof guard.calls.touch>)
    Object.assign(guard.calls, { touch: touched })
    const withBrowser = { ...data, cookie: { ...data.cookie, expires: null } }
    const noteUse = (each: typeof data) =>
      new Promise<boolean>((resolve) => {
        let isStarted = false
        guard.noteUse('a', each, () => resolve(isStarted))
        isStarted = true
      })
    for (const each of [data, data, withBrowser, withBrowser]) expect(await noteUse(each)).toBe(true)
    expect([asked.mock.calls.length, touched.mock.calls.length]).toEqual([1, 3])
    // With `rolling`, a session that its store has just been told of can wait, and another one cannot.
    guard.lives.isRolling = true
    guard.seen.noteStored('a', 60_000)
    guard.seen.noteStored('unknown', 60_000)
    expect([await noteUse(data), touched.mock.calls.length]).toEqual([true, 3])
    guard.seen.noteStored('a', 0)
    expect([await noteUse(data), touched.mock.calls.length]).toEqual([true, 4])
    const failing = createGuardWorld()
    const own = await failing.signIn('a', 7)
    vi.spyOn(failing.memory.sessions, 'touch').mockRejectedValue(new Error('down'))
    await new Promise<void>((resolve) => failing.guard.noteUse('a', own, resolve))
    expect(failing.logged).toHaveLength(1)
  })

  it('tells the registry at once of another life, and else once for all processes', async () => {
    const { guard, signIn, records, clock, twin, logged } = createGuardWorld()
    const there = twin()
    const data = await signIn('a', 7)
    for (const [process, lifeMs, isRecorded] of [
      [guard, HOUR, true],
      [there.guard, HOUR, false],
      [guard, HOUR + 20_000, true],
    ] as const) {
      clock.advance(1000)
      await process.touch('a', Object.assign(data, sessionData({}, lifeMs)))
      const [{ lastSeenAt = 0, expiresAt = 0 } = {}] = await records(7)
      expect([lastSeenAt === clock.now(), Math.round((expiresAt - lastSeenAt) / 1000)]).toEqual([
        isRecorded,
        lifeMs / 1000,
      ])
    }
    expect([...logged, ...there.logged]).toEqual([])
  })

  it('forgets a session that is registered no more', async () => {
    const { guard, signIn, endInRegistry } = createGuardWorld()
    const data = await signIn('a', 7)
    await guard.touch('a', data)
    await endInRegistry(7, 'a')
    data.cookie = sessionData({}, HOUR).cookie as NonNullable<typeof data.cookie>
    await guard.touch('a', data)
    expect(guard.seen.get('a')).toBeUndefined()
  })
})

test("a visitor's session is written in one turn if the store can, and takes no error of the caller for its own", async () => {
  const set = (_id: string, data: object, done: (error?: unknown) => void) =>
    done('down' in data ? new Error('down') : undefined)
  const world = createGuardWorld({ store: Object.assign(new TestStore(), { set }) as never })
  const told: unknown[] = []
  const save = (id: string, data: HostSessionData) =>
    world.guard.saveVisitors(id, sessionData(data), (error) => told.push(error))
  expect([save('visitor', {}), save('visitor', { down: true }), save('a', { user: 7 })]).toEqual([true, true, false])
  expect(told).toMatchObject([null, { message: 'down' }])
  const done = vi.fn(() => {
    throw new Error('of the application')
  })
  expect(() => world.guard.saveVisitors('visitor', sessionData(), done)).toThrow('of the application')
  expect(done).toHaveBeenCalledTimes(1)
  await world.signIn('a', 7)
  expect(save('a', {}), 'of a session that had a user').toBe(false)
})
