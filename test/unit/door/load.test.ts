import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { HostSessionData } from '../../../src/door/host-types.ts'
import { inspectSession, type Loaded, loadSession, lostState, type ReadSession } from '../../../src/door/load.ts'
import { SeenSession } from '../../../src/door/sessions/session-lives.ts'
import type { EndedCause } from '../../../src/index.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { createGuardWorld, sessionData } from '../../support/guard-world.ts'
import { TestStore } from '../../support/test-store.ts'

const session = (userId: number, sessionId: string) => ({ userId, token: tokenOf(sessionId) })

describe('loading a session', () => {
  it('finds none under an unknown id, and nobody signed in with that of a visitor', async () => {
    const { guard, calls } = createGuardWorld()
    await calls.set('visitor', sessionData({ cart: 1 }))
    expect(await guard.load('unknown')).toEqual({})
    expect(await guard.load('visitor')).toEqual({ data: expect.objectContaining({ cart: 1 }) })
  })

  it('finds a live login session, in this process and in another', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    for (const { guard } of [world, world.twin()]) {
      expect(await guard.load('a')).toMatchObject({ data: { user: 7 }, session: session(7, 'a') })
    }
  })

  it('asks the registry once: at once for a session it has seen, else after it was read', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    const { guard, memory } = world.twin()
    const asked = vi.spyOn(memory.sessions, 'useOf')
    const first = guard.load('a')
    expect(asked, 'while the user is not known').not.toHaveBeenCalled()
    await first
    expect(asked).toHaveBeenCalledTimes(1)
    const second = guard.load('a')
    expect(asked, 'before anything was read').toHaveBeenCalledTimes(2)
    await second
    expect(asked).toHaveBeenCalledTimes(2)
  })

  it.each([
    { first: 'the session store', readTurns: 0, checkTurns: 5 },
    { first: 'the registry', readTurns: 5, checkTurns: 0 },
  ])('waits for both answers where $first answers first', async ({ readTurns, checkTurns }) => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    world.store.readTurns = readTurns
    const { useOf } = world.memory.sessions
    vi.spyOn(world.memory.sessions, 'useOf').mockImplementation(async (...session) => {
      for (let turn = 0; turn < checkTurns; turn++) await nextTurn()
      return useOf.apply(world.memory.sessions, session)
    })
    expect(await world.guard.load('a')).toEqual({ data: expect.anything(), session: session(7, 'a') })
    await world.endInRegistry(7, 'a')
    expect(await world.guard.load('a')).toEqual({ ended: { reason: 'ended' } })
  })

  it('tells what it found once, in a turn of its own', async () => {
    const { guard, signIn } = createGuardWorld()
    const data = await signIn('a', 7)
    const told: unknown[] = []
    const read: ReadSession = (_id, call) => call.answer(data)
    loadSession(guard, 'a', read, (...outcome) => told.push(outcome))
    expect(told).toEqual([])
    await vi.waitFor(() => expect(told).toEqual([[null, { data, session: session(7, 'a') }]]))
    await nextTurn()
    expect(told).toHaveLength(1)
  })

  describe('from a store that responds at once', () => {
    type Read = (id: string, done: (error: unknown, data?: HostSessionData) => void) => void

    function createAtOnce(get: Read) {
      const store = Object.assign(new TestStore(), { get })
      return createGuardWorld({ store: store as unknown as TestStore }).guard
    }

    it('ends at once for a visitor, and for a session that is missing', () => {
      const told: unknown[] = []
      const guard = createAtOnce((id, done) => done(null, id === 'visitor' ? { cart: 1 } : undefined))
      const done: Loaded = (...outcome) => told.push(outcome)
      loadSession(guard, 'visitor', guard.calls.read, done)
      expect(told).toEqual([[null, { data: { cart: 1 } }]])
      loadSession(guard, 'unknown', guard.calls.read, done)
      expect(told.slice(1)).toEqual([[null, {}]])
    })

    it('passes its failure on at once', () => {
      const told: unknown[] = []
      const guard = createAtOnce((_id, done) => done(new Error('down')))
      loadSession(guard, 'a', guard.calls.read, (...outcome) => told.push(outcome))
      expect(told).toEqual([[expect.objectContaining({ message: 'down' }), undefined]])
    })

    it('does not take an error of the caller for one of the store', () => {
      let calls = 0
      const guard = createAtOnce((_id, done) => {
        calls += 1
        try {
          done(null, {})
        } catch {
          calls += 100
        }
      })
      const done = vi.fn(() => {
        throw new Error('of the application')
      })
      expect(() => loadSession(guard, 'a', guard.calls.read, done)).toThrow('of the application')
      expect([done.mock.calls.length, calls]).toEqual([1, 1])
    })

    it('waits for the registry if the session names a user', async () => {
      const guard = createAtOnce((_id, done) => done(null, sessionData({ user: 7 })))
      const done = vi.fn()
      loadSession(guard, 'a', guard.calls.read, done)
      expect(done).not.toHaveBeenCalled()
      await vi.waitFor(() => expect(done).toHaveBeenCalledTimes(1))
    })

    it('fails if the user cannot be read', async () => {
      const guard = createAtOnce((_id, done) => done(null, {}))
      Object.assign(guard.options, {
        sessionUser() {
          throw new Error('unreadable')
        },
      })
      await expect(guard.load('a')).rejects.toThrow('unreadable')
    })
  })

  it('reads no secret for a visitor', async () => {
    const { guard, calls, memory } = createGuardWorld()
    const read = vi.spyOn(memory.options, 'get')
    await calls.set('visitor', sessionData())
    await guard.load('visitor')
    expect(read).not.toHaveBeenCalled()
  })

  it('reads no secret again for a live session', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    const read = vi.spyOn(world.memory.options, 'get')
    await world.guard.load('a')
    expect(read).not.toHaveBeenCalled()
    await world.twin().guard.load('a')
    expect(read, 'by a process that has yet to learn it').toHaveBeenCalledTimes(1)
  })

  it('forgets a session that the store has lost: nothing is asked about it again', async () => {
    const world = createGuardWorld()
    const { guard, memory, calls } = world
    await world.signIn('a', 7)
    await calls.destroy('a')
    const asked = vi.spyOn(memory.sessions, 'useOf')
    expect(await guard.load('a')).toEqual({})
    expect(await guard.load('a')).toEqual({})
    expect(asked).toHaveBeenCalledTimes(1)
  })

  it('fails when the registry does, and leaves the session where it is', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    vi.spyOn(world.memory.sessions, 'useOf').mockRejectedValue(new Error('down'))
    await expect(world.guard.load('a')).rejects.toThrow('down')
    expect(world.store.ids()).toEqual(['a'])
  })
})

describe('a session that is over', () => {
  it('decision 71: is removed from the store when it is loaded, is none from then on, and its end is told again and again', async () => {
    const world = createGuardWorld()
    const { guard, store } = world
    await world.signIn('a', 7)
    await world.endInRegistry(7, 'a')
    expect(await guard.load('a')).toEqual({ ended: { reason: 'ended' } })
    expect(store.ids()).toEqual([])
    for (const _ of [1, 2]) {
      expect(await guard.load('a')).toEqual({})
      expect(await lostState(guard, 'a')).toEqual({ reason: 'ended' })
    }
  })

  it('is asked about in the registry no more', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    await world.endInRegistry(7, 'a')
    await world.guard.load('a')
    const asked = vi.spyOn(world.memory.sessions, 'useOf')
    await world.guard.load('a')
    expect(asked).not.toHaveBeenCalled()
  })

  it('by a site-wide logout is removed once over all processes, and announced once', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    const data = await world.calls.get('a')
    const twin = world.twin()
    await world.limiter.sessions.logoutAllUsers()
    world.fired.length = 0
    const secret = vi.spyOn(world.memory.options, 'get')
    expect(await world.guard.load('a')).toMatchObject({ ended: { reason: 'logout_all' } })
    expect(secret, 'the registry is known to be the same: it has the record').not.toHaveBeenCalled()
    expect(world.fired).toEqual([['sessmgr_session_invalidated', 7, tokenOf('a')]])
    expect(world.store.ids()).toEqual([])
    expect(await world.guard.load('a')).toEqual({})
    expect(await lostState(world.guard, 'a')).toMatchObject({ reason: 'logout_all' })
    expect((await inspectSession(twin.guard, 'a', data ?? {}, undefined)).ended?.reason).toBe('ended')
    expect(twin.fired).toEqual([])
  })

  it('is reported although it cannot be removed: by the failure, so that no request goes on with it', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    await world.endInRegistry(7, 'a')
    world.store.undeletable.add('a')
    await expect(world.guard.load('a')).rejects.toBe(world.store.destroyError)
  })
})

describe('a session that the registry does not know', () => {
  it('is adopted when it names a user, as one from before sessmgr', async () => {
    const world = createGuardWorld()
    await world.calls.set('old', sessionData({ user: 7 }))
    expect((await world.guard.load('old')).session).toEqual(session(7, 'old'))
    const [record] = await world.records(7)
    expect(record).toMatchObject({ token: tokenOf('old'), ip: null, userAgent: null, device: null, generation: 0 })
    expect((record?.expiresAt ?? 0) - world.clock.now()).toBeGreaterThan(50_000)
  })

  it('is not adopted after all sessions of its user were ended', async () => {
    const world = createGuardWorld()
    await world.calls.set('old', sessionData({ user: 7 }))
    await world.limiter.sessions.endAll(7)
    expect(await world.guard.load('old')).toEqual({ ended: { reason: 'ended' } })
    expect(world.store.ids()).toEqual([])
  })

  it.each([
    { what: 'names nobody', fields: {} },
    { what: 'names somebody else', fields: { user: 8 } },
  ])('rule 75: has ended if it has a pair, and $what, whatever registry the pair names', async ({ fields }) => {
    for (const registry of [undefined, 7, '', 'another']) {
      const world = createGuardWorld()
      await world.calls.set('a', sessionData({ ...fields, sessmgr: { ...session(7, 'a'), registry } }))
      expect(await world.guard.load('a')).toEqual({ ended: { reason: 'ended' } })
      expect([world.store.ids(), await world.registered(7), await world.registered(8)]).toEqual([[], [], []])
    }
  })

  it('rule 75: is adopted if its pair is of another registry, and it names the same user', async () => {
    const world = createGuardWorld()
    await world.calls.set('a', sessionData({ user: '7', sessmgr: { ...session(7, 'a'), registry: 'another' } }))
    expect(await world.guard.load('a')).toMatchObject({ session: { userId: '7' }, needsPair: true })
    expect(await world.registered(7)).toEqual(['a'])
  })

  it('rule 75: is a visitor if it names nobody, and its pair is that of another session', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7, {})
    await world.calls.set('b', (await world.calls.get('a')) as HostSessionData)
    expect(await world.guard.load('b')).toEqual({ data: expect.anything() })
    expect(await world.registered(7)).toEqual(['a'])
  })

  it('rule 75: has not ended if another process has emptied the store: the name of its registry is read again', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    const { guard } = world.twin()
    await guard.load('a')
    await world.memory.wipe()
    const read = vi.spyOn(world.memory.options, 'get')
    expect((await guard.load('a')).session).toEqual(session(7, 'a'))
    expect(read).toHaveBeenCalled()
  })

  it('is asked about after the registry was wiped by another process: nobody is signed out for that', async () => {
    const world = createGuardWorld()
    const twin = world.twin()
    await world.signIn('a', 7)
    await twin.guard.load('a')
    await world.memory.wipe()
    // This process learns of the new registry, and names it in a pair, which the other cannot know.
    await world.guard.options.siteSecrets.refresh()
    await world.signIn('b', 8, {})
    expect((await twin.guard.load('b')).session, 'with a pair of the registry of now').toEqual(session(8, 'b'))
    expect((await twin.guard.load('a')).session, 'with a pair of the registry of before').toEqual(session(7, 'a'))
  })

  it('whose registry was wiped is adopted, and not ended', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    await world.memory.wipe()
    expect((await world.guard.load('a')).session).toEqual(session(7, 'a'))
    expect(await world.registered(7)).toEqual(['a'])
  })
})

describe('writing a session that no request has', () => {
  const saved = (get: object, sessionId: string, data: HostSessionData) => {
    const world = createGuardWorld({ store: Object.assign(new TestStore(), get) as unknown as TestStore })
    const told: unknown[] = []
    return { world, told, isDone: world.guard.saveVisitors(sessionId, data, (error) => told.push(error)) }
  }
  const set = (_id: string, _data: unknown, done: (error?: unknown) => void) => done()

  it('ends at once if the store does, for a visitor only', () => {
    expect(saved({ set }, 'visitor', sessionData())).toMatchObject({ isDone: true, told: [null] })
    expect(saved({ set }, 'a', sessionData({ user: 7 }))).toMatchObject({ isDone: false, told: [] })
    const fail = (_id: string, _data: unknown, done: (error?: unknown) => void) => done(new Error('down'))
    expect(saved({ set: fail }, 'visitor', sessionData()).told).toMatchObject([{ message: 'down' }])
  })

  it('ends later if the store does', async () => {
    const { world, told, isDone } = saved({}, 'visitor', sessionData())
    expect([isDone, told]).toEqual([true, []])
    await vi.waitFor(() => expect(told).toEqual([null]))
    expect(world.store.ids()).toEqual(['visitor'])
  })

  it('leaves a session that had a user to the guard', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    expect(world.guard.saveVisitors('a', sessionData(), () => {})).toBe(false)
  })

  it('does not take an error of the caller for one of the store', () => {
    const { guard } = createGuardWorld({ store: Object.assign(new TestStore(), { set }) as unknown as TestStore })
    const done = vi.fn(() => {
      throw new Error('of the application')
    })
    expect(() => guard.saveVisitors('visitor', sessionData(), done)).toThrow('of the application')
    expect(done).toHaveBeenCalledTimes(1)
  })
})

const CAUSE: EndedCause = { kind: 'displaced', at: 1, device: 'Chrome on Windows' }

/** A guard whose limiter knows these causes, the next one at each question. */
function guardKnowing(...causes: (EndedCause | undefined)[]) {
  const world = createGuardWorld()
  const asked = vi.spyOn(world.limiter, 'causeOf').mockImplementation(async () => causes.shift())
  return { ...world, asked }
}

it('of a session that is over is asked for once it is known, and not again', async () => {
  const { guard, asked, signIn, endInRegistry } = guardKnowing(CAUSE)
  await signIn('a', 7)
  await endInRegistry(7, 'a')
  const ended = { reason: 'ended', cause: CAUSE }
  expect(await guard.load('a')).toEqual({ ended })
  for (const _ of [1, 2]) expect(await lostState(guard, 'a')).toEqual(ended)
  expect(asked.mock.calls).toEqual([[tokenOf('a'), 'ended', undefined]])
})

it('of a session that the store no longer has is asked for by its id', async () => {
  const { guard, asked } = guardKnowing(CAUSE)
  const ended = { reason: 'missing', cause: CAUSE }
  expect(await guard.load('a')).toEqual({})
  expect(asked, 'by the load').not.toHaveBeenCalled()
  for (const _ of [1, 2]) expect(await lostState(guard, 'a')).toEqual(ended)
  expect(asked.mock.calls).toEqual([[tokenOf('a'), 'missing', undefined]])
})

it.each([
  ['ended', 'missing'],
  ['logout_all', 'logout_all'],
] as const)('of a session that was found %s is asked for again while it is unknown', async (reason, as) => {
  const { guard, asked } = guardKnowing(undefined, CAUSE)
  guard.endings.set('a', { reason })
  expect(await lostState(guard, 'a')).toEqual({ reason })
  expect(await lostState(guard, 'a')).toEqual({ reason, cause: CAUSE })
  expect(await lostState(guard, 'a')).toEqual({ reason, cause: CAUSE })
  expect(asked.mock.calls).toEqual([
    [tokenOf('a'), as, undefined],
    [tokenOf('a'), as, undefined],
  ])
})

it('of a live session and of a visitor is not asked for', async () => {
  const { guard, asked, calls, signIn } = guardKnowing()
  await signIn('a', 7)
  await calls.set('visitor', { cart: 1 })
  await guard.load('a')
  await guard.load('visitor')
  expect(asked).not.toHaveBeenCalled()
})

it('a session is served although the lifetimes of its store cannot be read from its stored data', async () => {
  const use = { generation: 0, usedAt: performance.now(), ttlMs: 60_000, takenUp: true }
  const seen = new SeenSession(7, tokenOf('a'))
  const broken = Object.assign(new TestStore(), {
    getTTL() {
      throw new TypeError('expires.getTime is not a function')
    },
  })
  const { guard } = createGuardWorld({ store: broken })
  guard.noteRecorded(seen, {}, use)
  expect(seen.freshUntil).toBe(Number.NEGATIVE_INFINITY)
})
