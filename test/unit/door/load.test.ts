import { describe, expect, it, vi } from 'vitest'
import type { HostSessionData } from '../../../src/door/host-types.ts'
import { type Loaded, loadSession, lostState } from '../../../src/door/load.ts'
import type { EndedCause } from '../../../src/index.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import type { SessmgrStore, VerdictWatch } from '../../../src/stores/store.ts'
import { createGuardWorld, sessionData } from '../../support/guard-world.ts'
import { TestStore } from '../../support/test-store.ts'

const session = (userId: number, sessionId: string) => ({ userId, token: tokenOf(sessionId) })
const ENDED = { ended: { reason: 'ended' } }

describe('loading a session', () => {
  it('asks the registry once: at once for a session it has seen, else after it was read', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    const { guard, memory } = world.twin()
    const asked = vi.spyOn(memory.sessions, 'useOf')
    const first = guard.load('a')
    expect(asked, 'while the user is not known').not.toHaveBeenCalled()
    expect(await first).toMatchObject({ data: { user: 7 }, session: session(7, 'a') })
    expect(asked).toHaveBeenCalledTimes(1)
    const second = guard.load('a')
    expect(asked, 'before anything was read').toHaveBeenCalledTimes(2)
    await second
    expect(asked).toHaveBeenCalledTimes(2)
  })

  it('from a store that responds at once ends at once, but where the registry is to be asked', async () => {
    const get = (id: string, done: (error: unknown, data?: HostSessionData) => void) => {
      if (id === 'broken') done(new Error('down'))
      else done(null, { visitor: { cart: 1 }, a: sessionData({ user: 7 }) }[id])
    }
    const { guard } = createGuardWorld({ store: Object.assign(new TestStore(), { get }) as never })
    const told: unknown[] = []
    const done: Loaded = (...outcome) => told.push(outcome)
    for (const id of ['visitor', 'unknown', 'broken', 'a']) loadSession(guard, id, guard.calls.read, done)
    expect(told).toMatchObject([
      [null, { data: { cart: 1 } }],
      [null, {}],
      [{ message: 'down' }, undefined],
    ])
    await vi.waitFor(() => expect(told).toHaveLength(4))
    const failing = vi.fn(() => {
      throw new Error('of the application')
    })
    expect(() => loadSession(guard, 'visitor', guard.calls.read, failing)).toThrow('of the application')
    expect(failing, 'its error is none of the store').toHaveBeenCalledTimes(1)
    Object.assign(guard.options, {
      sessionUser() {
        throw new Error('unreadable')
      },
    })
    await expect(guard.load('visitor')).rejects.toThrow('unreadable')
  })
})

describe('a session that is over', () => {
  it('decision 71: is removed when it is loaded, asked about no more, and its end is told again and again', async () => {
    const world = createGuardWorld()
    const { guard, store } = world
    await world.signIn('a', 7)
    await world.endInRegistry(7, 'a')
    expect([await guard.load('a'), store.ids()]).toEqual([ENDED, []])
    const asked = vi.spyOn(world.memory.sessions, 'useOf')
    for (const _ of [1, 2]) expect([await guard.load('a'), await lostState(guard, 'a')]).toEqual([{}, ENDED.ended])
    expect(asked).not.toHaveBeenCalled()
  })

  it('is reported although it cannot be removed: by the failure, so that no request goes on with it', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    await world.endInRegistry(7, 'a')
    world.store.undeletable.add('a')
    await expect(world.guard.load('a')).rejects.toBe(world.store.destroyError)
  })

  const CAUSE: EndedCause = { kind: 'displaced', at: 1, device: 'Chrome on Windows' }

  /** A guard whose limiter knows these causes, the next one at each question. */
  function guardKnowing(...causes: (EndedCause | undefined)[]) {
    const world = createGuardWorld()
    const asked = vi.spyOn(world.limiter, 'causeOf').mockImplementation(async () => causes.shift())
    return { ...world, asked }
  }

  it('has a cause that is asked for until it is known, and not by the load of one that is missing or live', async () => {
    const { guard, asked, signIn, endInRegistry } = guardKnowing(CAUSE, CAUSE)
    await signIn('a', 7)
    await guard.load('a')
    expect(await guard.load('missing')).toEqual({})
    expect(asked).not.toHaveBeenCalled()
    await endInRegistry(7, 'a')
    const told = [await guard.load('a'), await lostState(guard, 'a'), await lostState(guard, 'a')]
    const ended = { reason: 'ended', cause: CAUSE }
    expect(told).toEqual([{ ended }, ended, ended])
    for (const _ of [1, 2]) expect(await lostState(guard, 'missing')).toEqual({ reason: 'missing', cause: CAUSE })
    const questions = ['ended', 'missing'].map((as, at) => [tokenOf(at === 0 ? 'a' : 'missing'), as, undefined])
    expect(asked.mock.calls).toEqual(questions)
    for (const [reason, as] of [
      ['ended', 'missing'],
      ['logout_all', 'logout_all'],
    ] as const) {
      const later = guardKnowing(undefined, CAUSE)
      later.guard.endings.set('a', { reason })
      const states = []
      for (let count = 0; count < 3; count++) states.push(await lostState(later.guard, 'a'))
      const known = { reason, cause: CAUSE }
      expect(states).toEqual([{ reason }, known, known])
      expect(later.asked.mock.calls).toEqual(Array(2).fill([tokenOf('a'), as, undefined]))
    }
  })
})

it('rule 75: a session is asked about after another process has wiped the registry: nobody is signed out for that', async () => {
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
  expect(await world.registered(7)).toEqual(['a'])
})

it('a session that is watched is read once more when the connection was lost meanwhile, not when there was no answer in time', async () => {
  for (const cause of ['closed', undefined]) {
    const drop = vi.fn()
    const watch: VerdictWatch = {
      reading: (store) => Object.assign(Object.create(store), { isWatched: true }),
      begin: () => 1,
      isLive: () => true,
      drop,
      whyNot: async () => undefined,
    }
    const memory: SessmgrStore = { ...memoryStore(), watch }
    const { guard, signIn, calls, store } = createGuardWorld({ memory })
    await signIn('a', 7)
    const asked = vi.spyOn(memory.sessions, 'useOf')
    expect(await guard.load('a')).toMatchObject({ session: session(7, 'a') })
    expect(asked).not.toHaveBeenCalled()
    const { read } = calls
    vi.spyOn(calls, 'read').mockImplementation((id, call, from) =>
      from ? call.fail(Object.assign(new Error('too late'), { cause })) : read(id, call),
    )
    if (cause) expect(await guard.load('a')).toMatchObject({ session: session(7, 'a') })
    else await expect(guard.load('a')).rejects.toThrow('too late')
    expect([asked.mock.calls.length, drop.mock.calls.length]).toEqual(cause ? [1, 0] : [0, 1])
    expect(store.ids()).toEqual(['a'])
  }
})
