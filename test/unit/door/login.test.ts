import { describe, expect, it, test, vi } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { aWarning } from '../../support/a-warning.ts'
import { continuedBy, noteOrigin, sessionData } from '../../support/guard-world.ts'
import { clientRequest, createLoginHost } from '../../support/login-host.ts'
import type { TestVisit } from '../../support/test-visit.ts'

const BLOCK = { settings: { maximum: 1, logic: 'block' } } as const

/** A request that has begun its session itself. */
function begun(): TestVisit {
  const request = clientRequest(sessionData())
  request.begunId = 'before'
  return request
}

const session = (userId: number | string, sessionId: string) => ({ userId, token: tokenOf(sessionId) })

describe('a login', () => {
  it("is registered with its client, paired, and takes the place of the visitor's session", async () => {
    const host = createLoginHost()
    const visitor = sessionData({ cart: 1 })
    await host.calls.set('before', visitor)
    const request = clientRequest(visitor)
    await host.login(request, 7)
    expect(await host.records(7)).toMatchObject([{ ...session(7, 'new'), ip: '192.0.2.1', userAgent: 'curl/8' }])
    expect(request.sessmgr).toEqual({ session: session(7, 'new') })
    expect(host.guard.pairOf('new', request.session ?? {})).toMatchObject(session(7, 'new'))
    expect(await continuedBy(request, 7)).toBe(tokenOf('new'))
    expect(request.attended).toEqual([request.session])
    expect(host.store.ids()).toEqual(['new'])
    expect(host.logged).toEqual([])
  })

  it('does not ask the store for a session that its request has begun, unless that was written', async () => {
    const host = createLoginHost()
    const destroyed = vi.spyOn(host.guard.calls, 'destroy')
    await host.login(begun(), 7)
    expect(destroyed).not.toHaveBeenCalled()
    const written = begun()
    await host.guard.save('before', sessionData({ cart: 1 }), written)
    await host.login(written, 7)
    expect(destroyed).toHaveBeenCalledWith('before', written)
  })

  it('takes the address that the trusted proxy tells', async () => {
    const host = createLoginHost()
    await host.login(clientRequest(undefined, { ip: '198.51.100.1' }), 7)
    expect(await host.records(7)).toMatchObject([{ ip: '198.51.100.1' }])
  })

  it('without a session is no affair of the limit', async () => {
    const host = createLoginHost(BLOCK)
    const logIn = vi.fn(async () => {})
    await host.login(clientRequest(), undefined, { options: { session: false }, logIn })
    expect(logIn).toHaveBeenCalledTimes(1)
    await host.login(clientRequest(), 7, { options: {} })
    expect(await host.registered(7)).toEqual(['new'])
  })

  it('is saved after it was made, where the host asks for that', async () => {
    const host = createLoginHost()
    const steps: string[] = []
    const step = (name: string) => async () => void steps.push(name)
    await host.login(clientRequest(), 7, { logIn: step('made'), save: step('saved') })
    expect(steps).toEqual(['made', 'saved'])
  })

  it('that leaves no session has nothing to go on with', async () => {
    const host = createLoginHost()
    const request = clientRequest()
    await host.login(request, 7, { logIn: async () => void Object.assign(request, { sessionID: undefined }) })
    expect([request.sessmgr, request.attended]).toEqual([{}, []])
    expect(await host.registered(7)).toEqual([''])
  })

  it('that is cut off before it is registered leaves a session that is over', async () => {
    const host = createLoginHost()
    const save = vi.fn(async () => expect(await host.twin().guard.load('new')).toEqual({ ended: { reason: 'ended' } }))
    await host.login(clientRequest(), 7, { save: save as () => Promise<void> })
    expect(save).toHaveBeenCalledTimes(1)
  })
})

describe('a login on a session of somebody', () => {
  /** A request that goes on session `before` of user 7. */
  async function signedIn(options = {}) {
    const host = createLoginHost(options)
    const data = await host.signIn('before', 7)
    const request = clientRequest(data)
    noteOrigin(host.guard, request, data, session(7, 'before'))
    return { ...host, request }
  }

  it.each([7, '7'])('replaces it, when it is that of the same user %j, also at the limit', async (userId) => {
    const { login, request, registered, store, memory, logged } = await signedIn(BLOCK)
    const ended = vi.spyOn(memory.sessions, 'end')
    await login(request, userId)
    expect([await registered(7), store.ids()]).toEqual([['new'], ['new']])
    expect([ended.mock.calls, logged], 'it is ended by the login itself').toEqual([[], []])
    expect(request.sessmgr?.session?.token).toBe(tokenOf('new'))
  })

  it('ends it, when it is that of another user', async () => {
    const { login, request, registered, store } = await signedIn()
    await login(request, 8)
    expect([await registered(7), await registered(8), store.ids()]).toEqual([[], ['new'], ['new']])
  })

  it('is refused once that has been ended, before anything is made', async () => {
    const { login, request, endInRegistry } = await signedIn()
    await endInRegistry(7, 'before')
    const logIn = vi.fn()
    const message = 'You have been signed out in the meantime. Please sign in again.'
    await expect(login(request, 7, { logIn })).rejects.toMatchObject({ code: 'session_ended', message })
    expect(logIn).not.toHaveBeenCalled()
  })

  it('keeps it where the host keeps its id, and says what that means', async () => {
    const { login, request, registered, store, logged } = await signedIn()
    request.raw.headers.cookie = 'sid=before'
    await login(request, 8, { sessionId: 'before' })
    expect([await registered(8), store.ids()]).toEqual([['before'], ['before']])
    expect(logged).toEqual([[aWarning('login-keeps-the-session-id')]])
  })

  it('takes turns with another one of the same request, which goes on with what the first has made', async () => {
    const { login, request, registered, store } = await signedIn(BLOCK)
    await Promise.all([login(request, 7, { sessionId: 'one' }), login(request, 7, { sessionId: 'two' })])
    expect([await registered(7), store.ids()]).toEqual([['two'], ['two']])
  })
})

test('a session that names another user than its login did is warned of', async () => {
  const host = createLoginHost()
  await host.login(clientRequest(), 7, { fields: { user: 8 } })
  expect(host.logged).toEqual([[expect.stringContaining('holds a different user id')]])
})

describe('a login that is refused', () => {
  it('leaves everything as it was: nothing is made, and the library takes back what it has noted', async () => {
    const host = createLoginHost(BLOCK)
    await host.signIn('a', 7)
    const request = clientRequest(sessionData({ cart: 1 }))
    const [logIn, forget] = [vi.fn(), vi.fn()]
    const message = 'Enough for curl/8.'
    await expect(host.login(request, 7, { logIn, forget })).rejects.toMatchObject({
      code: 'login_limit_reached',
      message,
    })
    expect([logIn.mock.calls, forget.mock.calls]).toEqual([[], [[]]])
    expect(request).toMatchObject({ sessionID: 'before', session: { cart: 1 }, sessmgr: {} })
  })

  it.each([
    { what: 'under its new id, and puts the one of before back', sessionId: 'new' },
    { what: "in the visitor's, and writes that again as it was", sessionId: 'before' },
  ])('late takes back what was written $what', async ({ sessionId }) => {
    const host = createLoginHost(BLOCK)
    const visitor = sessionData({ cart: { items: 1 } })
    await host.calls.set('before', visitor)
    const request = clientRequest(visitor)
    const gate = host.store.holdNextWrite(sessionId)
    const refused = host
      .login(request, 7, { sessionId, fields: { user: 7, cart: 'gone' } })
      .catch((error) => error.code)
    await gate.arrived
    Object.assign(visitor.cart as object, { items: 2 })
    await host.twin().signIn('a', 7)
    gate.open()
    expect(await refused).toBe('login_limit_reached')
    expect(request).toMatchObject({ sessionID: 'before', session: { cart: { items: 1 } }, sessmgr: {} })
    expect(host.store.ids().sort()).toEqual(['a', 'before'])
    expect(host.store.read('before')).toMatchObject({ cart: { items: 1 } })
    expect(host.store.read('before')).not.toHaveProperty('user')
    expect(await host.registered(7)).toEqual(['a'])
    expect(host.logged).toEqual([])
  })

  it('by a failure that leaves the request without an id has the session of before written again', async () => {
    const host = createLoginHost()
    const request = clientRequest(sessionData({ cart: 1 }))
    const logIn = async () => {
      Object.assign(request, { sessionID: undefined })
      throw new Error('no')
    }
    await expect(host.login(request, 7, { logIn })).rejects.toThrow('no')
    expect(host.store.read('before')).toMatchObject({ cart: 1 })
  })

  it('writes nothing in the name of a visitor who had no session', async () => {
    const host = createLoginHost()
    const request = clientRequest()
    await expect(host.login(request, 7, { logIn: () => Promise.reject(new Error('no')) })).rejects.toThrow('no')
    expect(host.store.ids()).toEqual([])
  })

  it.each(['logIn', 'save'])('by a failure of %s is as if it had not been', async (step) => {
    const host = createLoginHost()
    await host.calls.set('before', sessionData({ cart: 1 }))
    const request = clientRequest(sessionData({ cart: 1 }))
    const forget = vi.fn()
    const fail = async () => {
      Object.assign(request, { sessionID: 'new', session: {} })
      await host.calls.set('new', sessionData())
      throw new Error('no')
    }
    await expect(host.login(request, 7, { [step]: fail, forget })).rejects.toThrow('no')
    expect(forget).toHaveBeenCalledTimes(1)
    expect(request).toMatchObject({ sessionID: 'before', session: { cart: 1 } })
    expect(request.login).toBeUndefined()
    expect([host.store.ids(), await host.registered(7)]).toEqual([['before'], []])
  })

  it('because its user has no id is taken back as well', async () => {
    const forget = vi.fn()
    await expect(createLoginHost().login(clientRequest(), undefined, { forget })).rejects.toThrow('nobody')
    expect(forget).toHaveBeenCalledTimes(1)
    await expect(createLoginHost().login(clientRequest())).rejects.toThrow('nobody')
  })
})
