import { describe, expect, it, vi } from 'vitest'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { createGuardWorld, sessionData, visitorRequest, whileLoggingIn } from '../../../support/guard-world.ts'

const session = (userId: number, sessionId: string) => ({ userId, token: tokenOf(sessionId) })

describe('writing the session of a login that has been admitted', () => {
  async function loggedIn() {
    const world = createGuardWorld()
    const request = visitorRequest()
    const data = sessionData({ user: 7 })
    await whileLoggingIn(request, { userId: 7, at: 0, sessionId: 'before' }, () =>
      world.guard.save('new', data, request),
    )
    const established = { sessionId: 'new', ttlMs: 100, revert: async () => {} }
    await world.limiter.admit({ userId: 7 }, async () => established)
    world.guard.mark('new', data, session(7, 'new'))
    const set = vi.spyOn(world.guard.calls, 'set')
    return { ...world, request, data, set }
  }

  it('writes nothing that the store has already, and gives it its full time in the registry', async () => {
    const { guard, request, data, set, records, clock } = await loggedIn()
    data.cookie = sessionData().cookie as NonNullable<typeof data.cookie>
    await guard.save('new', data, request)
    expect(set).not.toHaveBeenCalled()
    const [record] = await records(7)
    expect((record?.expiresAt ?? 0) - clock.now()).toBeGreaterThan(50_000)
    expect(guard.canWait('new', data)).toBe(true)
  })

  it.each([
    { what: 'a field that has come', change: { cart: 1 } },
    { what: 'another life', change: { cookie: sessionData({}, 300_000).cookie } },
    { what: 'no expiry any more', change: { cookie: { originalMaxAge: null, expires: null } } },
    { what: 'a life that is longer by half a second', change: { cookie: sessionData({}, 60_500).cookie } },
    { what: 'another path of its cookie', change: { cookie: { ...sessionData().cookie, path: '/shop' } } },
    { what: 'another marker', change: { sessmgr: undefined } },
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

  it('takes it out of the store when it has been ended since', async () => {
    const { guard, request, data, store, endInRegistry } = await loggedIn()
    await endInRegistry(7, 'new')
    await guard.save('new', data, request)
    expect(store.ids()).toEqual([])
  })
})
