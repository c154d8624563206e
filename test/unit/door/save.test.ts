import { describe, expect, it, test, vi } from 'vitest'
import { hasEnded } from '../../../src/door/save.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { aWarning } from '../../support/a-warning.ts'
import { createGuardWorld, noteOrigin, sessionData, visitorRequest, whileLoggingIn } from '../../support/guard-world.ts'
import { TestVisit } from '../../support/test-visit.ts'

const session = (userId: number, sessionId: string) => ({ userId, token: tokenOf(sessionId) })

describe("writing a visitor's session", () => {
  it('asks and changes nothing in the registry', async () => {
    const world = createGuardWorld()
    const secret = vi.spyOn(world.memory.options, 'get')
    await world.guard.save('visitor', sessionData({ cart: 1 }), visitorRequest())
    expect(world.store.read('visitor')).toMatchObject({ cart: 1 })
    expect(world.store.read('visitor')).not.toHaveProperty('sessmgr')
    expect(secret).not.toHaveBeenCalled()
  })

  it('is warned of when it is the third with data, while no login was ever seen', async () => {
    const save = async (
      { guard }: ReturnType<typeof createGuardWorld>,
      data: Record<string, unknown>,
      request = visitorRequest(),
    ) => {
      for (const id of ['a', 'b', 'b', 'c', 'd']) await guard.save(id, sessionData(data), request)
    }
    const world = createGuardWorld()
    await save(world, {})
    await save(world, { passport: {} })
    await save(world, { cart: 1 }, new TestVisit({ logIn() {} }))
    expect(world.logged).toEqual([])
    await save(world, { userId: 7 })
    expect(world.logged).toEqual([[aWarning('no-login-seen')]])
    const other = createGuardWorld()
    await other.signIn('x', 7)
    await save(other, { userId: 7 })
    expect(other.logged).toEqual([])
  })
})

describe('writing a login session', () => {
  it('writes it and notes its use, for the life that its cookie has now', async () => {
    const world = createGuardWorld()
    const data = await world.signIn('a', 7)
    world.clock.advance(1000)
    data.cookie = sessionData({}, 300_000).cookie as NonNullable<typeof data.cookie>
    await world.guard.save('a', Object.assign(data, { cart: 2 }))
    expect(world.store.read('a')).toMatchObject({ cart: 2, user: 7 })
    const [record] = await world.records(7)
    expect(record?.lastSeenAt).toBe(world.clock.now())
    expect((record?.expiresAt ?? 0) - world.clock.now()).toBeGreaterThan(290_000)
    expect(world.guard.canWait('a', data)).toBe(true)
  })

  it('writes nothing once it has been ended', async () => {
    const world = createGuardWorld()
    const data = await world.signIn('a', 7)
    await world.endInRegistry(7, 'a')
    await world.guard.save('a', Object.assign(data, { cart: 2 }))
    expect(world.store.read('a')).not.toHaveProperty('cart')
    await world.calls.destroy('a')
    await world.guard.save('a', data)
    expect(world.store.ids()).toEqual([])
  })

  it.each([
    { what: 'takes it back when it is ended while it is being written', wiped: false, left: [] },
    { what: 'leaves it when it is the registry that was wiped meanwhile', wiped: true, left: ['a'] },
  ])('$what', async ({ wiped, left }) => {
    const world = createGuardWorld()
    const data = await world.signIn('a', 7)
    const gate = world.store.holdNextWrite('a')
    const saved = world.guard.save('a', data)
    await gate.arrived
    await (wiped ? world.memory.wipe() : world.endInRegistry(7, 'a'))
    gate.open()
    await saved
    expect(world.store.ids()).toEqual(left)
  })

  it('knows it by its pair in a process that has never seen it', async () => {
    const world = createGuardWorld()
    const data = await world.signIn('a', 7)
    await world.endInRegistry(7, 'a')
    await world.twin().guard.save('a', Object.assign(data, { cart: 2 }))
    expect(world.store.read('a')).not.toHaveProperty('cart')
  })
})

describe('writing the session of a login under way', () => {
  const login = { userId: 7, sessionId: 'before' }

  it('pairs what is written, and not the session itself: cut off, it is over', async () => {
    const world = createGuardWorld()
    await world.guard.ready()
    const request = visitorRequest()
    const data = sessionData({ user: 7 })
    await whileLoggingIn(request, login, () => world.guard.save('new', data, request))
    expect(data).not.toHaveProperty('sessmgr')
    expect(await world.registered(7)).toEqual([])
    expect(await world.guard.load('new')).toEqual({ ended: { reason: 'ended' } })
  })

  it('gives the session its earlier pair back, also when the write fails', async () => {
    const world = createGuardWorld()
    const request = visitorRequest()
    const data = sessionData({ user: 7, sessmgr: 'earlier' })
    const save = () => whileLoggingIn(request, login, () => world.guard.save('new', data, request))
    await save()
    expect(world.store.read('new')).toMatchObject({ sessmgr: { userId: 7 } })
    vi.spyOn(world.guard.calls, 'set').mockRejectedValue(new Error('the store is down'))
    await expect(save()).rejects.toThrow('the store is down')
    expect(data).toMatchObject({ sessmgr: 'earlier' })
  })

  it('writes it as it is under the id that the visitor came with: it is registered next', async () => {
    const world = createGuardWorld()
    const request = visitorRequest()
    await whileLoggingIn(request, login, () => world.guard.save('before', sessionData({ user: 7 }), request))
    expect(world.store.read('before')).toMatchObject({ user: 7 })
    expect(world.store.read('before')).not.toHaveProperty('sessmgr')
    expect(await world.registered(7)).toEqual([])
  })
})

describe('writing a session that the application has emptied', () => {
  it('pairs it again while its user is the same, whoever remembers the session: this process or the request', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7, {})
    const twin = world.twin()
    await twin.guard.ready()
    for (const [{ guard }, request] of [
      [world, undefined],
      [twin, visitorRequest({ sessmgr: { session: session(7, 'a') } })],
    ] as const) {
      const data = sessionData({ cart: 3 })
      await guard.save('a', data, request)
      expect(guard.pairOf('a', data)).toMatchObject(session(7, 'a'))
      expect(world.store.read('a')).toHaveProperty('sessmgr')
    }
    expect(await world.registered(7)).toEqual(['a'])
  })

  it('takes it for that of a visitor where the request went on another one', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7, {})
    await world
      .twin()
      .guard.save('a', sessionData(), visitorRequest({ sessmgr: { session: session(7, 'another id') } }))
    expect(world.store.read('a')).not.toHaveProperty('sessmgr')
  })

  it('writes nothing once it has been ended: it is gone from the store', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    await world.calls.destroy('a')
    await world.guard.save('a', sessionData({ user: 7 }))
    expect(world.store.ids()).toEqual([])
  })

  it('writes nothing when it is registered no more', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    await world.endInRegistry(7, 'a')
    await world.guard.save('a', sessionData({ user: 7, cart: 1 }))
    expect(world.store.read('a')).not.toHaveProperty('cart')
  })

  it('frees its slot when its user was taken out', async () => {
    const world = createGuardWorld()
    const data = await world.signIn('a', 7)
    const request = visitorRequest()
    noteOrigin(world.guard, request, data, session(7, 'a'))
    await world.guard.save('a', sessionData({ cart: 1 }), request)
    expect(await world.registered(7)).toEqual([])
    expect(world.store.read('a')).toMatchObject({ cart: 1 })
    expect(await world.guard.load('a')).toEqual({ data: expect.objectContaining({ cart: 1 }) })
    expect(await hasEnded(world.guard, request), 'the request gave it up').toBe(false)
  })

  it('counts it for the user who was put in the place of the other', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    await world.guard.save('a', sessionData({ user: 8 }))
    expect([await world.registered(7), await world.registered(8)]).toEqual([[], ['a']])
    expect((await world.guard.load('a')).session).toEqual(session(8, 'a'))
  })
})

describe('writing a session with a user who has not logged in by sessmgr', () => {
  it('registers and pairs it, as of an unknown client', async () => {
    const world = createGuardWorld()
    const data = sessionData({ user: 7 })
    await world.guard.save('a', data, visitorRequest())
    expect(await world.records(7)).toMatchObject([{ token: tokenOf('a'), ip: null, userAgent: null, device: null }])
    const [record] = await world.records(7)
    expect((record?.expiresAt ?? 0) - world.clock.now()).toBeGreaterThan(50_000)
    expect(world.guard.pairOf('a', data)).toMatchObject(session(7, 'a'))
    expect((await world.twin().guard.load('a')).session).toEqual(session(7, 'a'))
    expect(world.logged).toEqual([])
  })

  it('is warned of on a route mounted before sessmgr', async () => {
    const world = createGuardWorld()
    await world.guard.save('a', sessionData({ user: 7 }), visitorRequest({}))
    expect(world.logged).toEqual([[expect.stringContaining('on a route mounted before sessmgr')]])
  })

  it('is refused at the limit, and nothing is written', async () => {
    const world = createGuardWorld({ settings: { maximum: 1, logic: 'block' } })
    await world.signIn('a', 7)
    const failure = await world.guard.save('b', sessionData({ user: 7 }), visitorRequest()).catch((error) => error)
    expect(failure).toMatchObject({ code: 'login_limit_reached', message: expect.stringContaining('limit') })
    expect([world.store.ids(), await world.registered(7)]).toEqual([['a'], ['a']])
  })

  it('is taken back when the limit is reached while it is being written', async () => {
    const world = createGuardWorld({ settings: { maximum: 1, logic: 'block' } })
    const gate = world.store.holdNextWrite('b')
    const saved = world.guard.save('b', sessionData({ user: 7 }), visitorRequest()).catch((error) => error.code)
    await gate.arrived
    await world.twin().signIn('a', 7)
    gate.open()
    expect(await saved).toBe('login_limit_reached')
    expect(world.store.ids()).toEqual(['a'])
  })
})

describe('writing a session under a new id', () => {
  /** A request of user 7, loaded with session `a`; a copy of its data is to be written as `b`. */
  async function moved(fields: object = { user: 7 }) {
    const world = createGuardWorld()
    const data = await world.signIn('a', 7, { ...fields })
    const request = visitorRequest()
    noteOrigin(world.guard, request, data, session(7, 'a'))
    return { ...world, request, copy: sessionData({ ...fields }) }
  }

  it('registers it while the one that the request came with is live', async () => {
    const { guard, request, copy, registered } = await moved()
    await guard.save('b', copy, request)
    expect(await registered(7)).toEqual(['a', 'b'])
  })

  it('registers it when the request gave up a live one', async () => {
    const { guard, request, copy, registered } = await moved()
    await guard.destroy('a', request)
    await guard.save('b', copy, request)
    expect(await registered(7)).toEqual(['b'])
  })

  it.each([
    ['names the same user', { user: 7 }, { user: 7 }],
    ['names another user', { user: 7 }, { user: 8 }],
    ['names nobody, and the first one did not either', {}, {}],
  ])('writes nothing once the first one has been ended, where the new one %s', async (_, fields, fresh) => {
    const { guard, request, endInRegistry, registered, store, calls } = await moved(fields)
    await endInRegistry(7, 'a')
    await calls.set('b', sessionData())
    await guard.save('b', sessionData(fresh), request)
    expect(store.ids()).toEqual(['a'])
    expect([await registered(7), await registered(8)]).toEqual([[], []])
  })

  it('writes it for a visitor when the user was taken out, who could be seen before', async () => {
    const { guard, request, endInRegistry, store } = await moved()
    await endInRegistry(7, 'a')
    await guard.save('b', sessionData({ cart: 1 }), request)
    expect(store.read('b')).toMatchObject({ cart: 1 })
  })

  it('decision 73: takes it back when the first one is ended in that very moment, and fails before the answer', async () => {
    const { guard, request, copy, endInRegistry, registered, store } = await moved()
    const gate = store.holdNextWrite('b')
    const saved = guard.save('b', copy, request)
    await gate.arrived
    await endInRegistry(7, 'a')
    gate.open()
    await expect(saved).rejects.toMatchObject({ code: 'session_ended', status: 401 })
    expect([store.ids(), await registered(7)]).toEqual([['a'], []])
  })

  describe('by a write whose request is not known', () => {
    it.each([
      { fate: 'registers it while the session that its data was copied from is live', over: false, left: ['a', 'b'] },
      { fate: 'writes nothing once that has been ended', over: true, left: ['a'] },
    ])('$fate', async ({ over, left }) => {
      const world = createGuardWorld()
      const data = await world.signIn('a', 7)
      if (over) await world.endInRegistry(7, 'a')
      await world.guard.save('b', { ...data })
      expect(world.store.ids()).toEqual(left)
      expect(await world.registered(7)).toEqual(over ? [] : ['a', 'b'])
    })

    it('believes no copied pair of another user', async () => {
      const world = createGuardWorld()
      const data = await world.signIn('a', 7)
      await world.endInRegistry(7, 'a')
      await world.guard.save('b', { ...data, user: 8 })
      expect(await world.registered(8)).toEqual(['b'])
    })
  })
})

test.each(['useOf', 'touch'] as const)('a write fails when %s of the registry does', async (method) => {
  const world = createGuardWorld()
  const data = await world.signIn('a', 7)
  vi.spyOn(world.memory.sessions, method).mockRejectedValue(new Error('down'))
  await expect(world.guard.save('a', data)).rejects.toThrow('down')
})

describe('writing the session of a login that has been admitted', () => {
  async function loggedIn() {
    const world = createGuardWorld()
    await world.guard.ready()
    const request = visitorRequest()
    const data = sessionData({ user: 7 })
    await whileLoggingIn(request, { userId: 7, sessionId: 'before' }, () => world.guard.save('new', data, request))
    const established = { sessionId: 'new', ttlMs: 100, revert: async () => {} }
    await world.limiter.admit({ userId: 7 }, async () => established)
    world.guard.pair('new', data, session(7, 'new'))
    const set = vi.spyOn(world.guard.calls, 'set')
    return { ...world, request, data, set }
  }

  it('writes nothing that the store has already', async () => {
    const { guard, request, data, set } = await loggedIn()
    data.cookie = sessionData().cookie as NonNullable<typeof data.cookie>
    await guard.save('new', data, request)
    expect(set).not.toHaveBeenCalled()
  })

  it.each([
    { what: 'a field that has come', change: { cart: 1 } },
    { what: 'another life', change: { cookie: sessionData({}, 300_000).cookie } },
    { what: 'no expiry any more', change: { cookie: { originalMaxAge: null, expires: null } } },
    { what: 'a life that is longer by half a second', change: { cookie: sessionData({}, 60_500).cookie } },
    { what: 'another path of its cookie', change: { cookie: { ...sessionData().cookie, path: '/shop' } } },
    { what: 'another pair', change: { sessmgr: undefined } },
  ])('writes $what', async ({ change }) => {
    const { guard, request, data, set, store } = await loggedIn()
    await guard.save('new', Object.assign(data, change), request)
    expect(set).toHaveBeenCalledOnce()
    expect(store.read('new')).toMatchObject({ user: 7, sessmgr: session(7, 'new') })
  })

  it('writes what has changed and changed back: the store has it otherwise', async () => {
    const { guard, request, data, set } = await loggedIn()
    await guard.save('new', Object.assign(data, { cart: 1 }), request)
    delete data.cart
    await guard.save('new', data, request)
    expect(set).toHaveBeenCalledTimes(2)
  })

  it('writes it under another id', async () => {
    const { guard, request, data, store } = await loggedIn()
    await guard.save('other', data, request)
    expect(store.read('other')).toMatchObject({ user: 7 })
  })
})
