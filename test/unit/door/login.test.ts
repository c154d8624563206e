import { describe, expect, it, vi } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { aWarning } from '../../support/a-warning.ts'
import { noteOrigin, sessionData } from '../../support/guard-world.ts'
import { clientRequest, createLoginHost } from '../../support/login-host.ts'

const BLOCK = { settings: { maximum: 1, logic: 'block' } } as const
const session = (userId: number | string, sessionId: string) => ({ userId, token: tokenOf(sessionId) })

/** A request that goes on session `before` of user 7. */
async function signedIn(options = {}) {
  const host = createLoginHost(options)
  const data = await host.signIn('before', 7)
  const request = clientRequest(data)
  noteOrigin(host.guard, request, data, session(7, 'before'))
  return { ...host, request }
}

describe('a login', () => {
  it('does not ask the store for a session that its request has begun, unless that was written', async () => {
    const host = createLoginHost()
    const destroyed = vi.spyOn(host.guard.calls, 'destroy')
    const begun = () => Object.assign(clientRequest(sessionData()), { begunId: 'before' })
    await host.login(begun(), 7)
    expect(destroyed).not.toHaveBeenCalled()
    const written = begun()
    await host.guard.save('before', sessionData({ cart: 1 }), written)
    await host.login(written, 7)
    expect(destroyed).toHaveBeenCalledWith('before', written)
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

describe('a login that is refused', () => {
  it('late takes back what was written, under a new id or that of the visitor, whose session is as it was', async () => {
    for (const sessionId of ['new', 'before']) {
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
      expect([await host.registered(7), host.logged]).toEqual([['a'], []])
    }
  })

  it('by a failure is as if it had not been, and its library takes back what it has noted', async () => {
    for (const step of ['logIn', 'save']) {
      for (const madeId of ['new', undefined]) {
        const host = createLoginHost()
        await host.calls.set('before', sessionData({ cart: 1 }))
        const request = clientRequest(sessionData({ cart: 1 }))
        const forget = vi.fn()
        const fail = async () => {
          Object.assign(request, { sessionID: madeId, session: {} })
          if (madeId) await host.calls.set(madeId, sessionData())
          throw new Error('no')
        }
        await expect(host.login(request, 7, { [step]: fail, forget })).rejects.toThrow('no')
        expect(forget).toHaveBeenCalledTimes(1)
        expect(request).toMatchObject({ sessionID: 'before', session: { cart: 1 }, login: undefined })
        expect(host.store.ids().filter((id) => id !== 'new' || madeId)).toEqual(['before'])
        expect([host.store.read('before'), await host.registered(7)]).toMatchObject([{ cart: 1 }, []])
      }
    }
  })
})
