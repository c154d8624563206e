import { describe, expect, it, test, vi } from 'vitest'
import { Standing } from '../../../src/guard/request/standing.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { deferred } from '../../support/deferred.ts'
import { continuedBy, createGuardWorld, sessionData, visitorRequest } from '../../support/guard-world.ts'

const session = (userId: number, sessionId: string) => ({ userId, token: tokenOf(sessionId) })

describe('destroying a session', () => {
  test.each([
    ['of a user that this process knows', false],
    ['that only another process has seen, by its marker', true],
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
    const asked = vi.spyOn(world.memory.sessions, 'generationOf')
    expect(await world.guard.load('a')).toEqual({ ended: { reason: 'missing' } })
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
    world.guard.noteOrigin(Standing.at(request), data, session(7, 'a'))
    return { ...world, request }
  }

  it('has not ended while it is live, nor where there is none', async () => {
    const { guard, request } = await loaded()
    expect([await guard.hasEnded(request), await guard.hasEnded({})]).toEqual([false, false])
  })

  it('has ended once the registry says so', async () => {
    const { guard, request, endInRegistry } = await loaded()
    await endInRegistry(7, 'a')
    expect(await guard.hasEnded(request)).toBe(true)
  })

  it('is continued by a login of the same user, not of another', async () => {
    const { request } = await loaded()
    expect(await continuedBy(request, '7')).toBe(tokenOf('a'))
    expect(await continuedBy(request, 8)).toBeUndefined()
    expect(await continuedBy({}, 7)).toBeUndefined()
  })

  it('is neither ended nor continued after the request gave it up while it was live', async () => {
    const { guard, request } = await loaded()
    await guard.destroy('a', request)
    expect([await guard.hasEnded(request), await continuedBy(request, 7)]).toEqual([false, undefined])
  })

  it('has ended although the request gave it up, when it was over before', async () => {
    const { guard, request, endInRegistry } = await loaded()
    await endInRegistry(7, 'a')
    await guard.destroy('a', request)
    expect([await guard.hasEnded(request), await continuedBy(request, 7)]).toEqual([true, tokenOf('a')])
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
    const hasEnded = guard.hasEnded(request)
    answer.resolve()
    expect(await hasEnded).toBe(false)
    await destroyed
  })
})

describe('leaving a session by a login', () => {
  it('ends it: the slot of whoever held it, and what the store has', async () => {
    const world = createGuardWorld()
    await world.signIn('a', 7)
    const request = visitorRequest()
    world.guard.noteOrigin(Standing.at(request), {}, session(7, 'a'))
    await world.guard.leave('a', 7, request)
    expect([await world.registered(7), world.store.ids()]).toEqual([[], []])
    expect(await world.guard.hasEnded(request)).toBe(false)
  })

  it('removes that of a visitor, and frees no slot', async () => {
    const world = createGuardWorld()
    await world.calls.set('visitor', sessionData())
    const released = vi.spyOn(world.memory.sessions, 'end')
    await world.guard.leave('visitor', undefined, {})
    expect(world.store.ids()).toEqual([])
    expect(released).not.toHaveBeenCalled()
  })

  it('fails no login: a failure is logged, without the session id', async () => {
    const world = createGuardWorld()
    await world.signIn('raw-id', 7)
    world.store.undeletable.add('raw-id')
    await world.guard.leave('raw-id', 7, {})
    expect(world.logged).toEqual([
      [
        expect.stringContaining('could not be ended'),
        { token: tokenOf('raw-id'), error: expect.stringContaining('does not destroy') },
      ],
    ])
    expect(JSON.stringify(world.logged)).not.toContain('raw-id')
  })
})

test('a mark is read back for the session that it was written for, and for no other', async () => {
  const { guard } = createGuardWorld()
  await guard.marks.ready()
  const data = sessionData()
  guard.mark('a', data, session(7, 'a'))
  expect(guard.markerOf('a', data)).toMatchObject(session(7, 'a'))
  expect(guard.markerOf('b', data)).toBeUndefined()
})
