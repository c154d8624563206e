import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { HostStore } from '../../../src/door/host-types.ts'
import { StoreHealth } from '../../../src/door/port.ts'
import { SessionStores } from '../../../src/door/stores/session-stores.ts'
import { answerCallback, promised, sessionCall, storeCalls } from '../../../src/door/stores/store-calls.ts'
import { asStoreError, asUnavailable, isStoreError } from '../../../src/door/stores/store-error.ts'
import { memoryStore, type SessmgrError, type SessmgrStore } from '../../../src/index.ts'
import { TestStore } from '../../support/test-store.ts'

const AWAY = { status: 503, headers: { 'Retry-After': '2' } }

describe('an error of the session store', () => {
  it('keeps a status of its own, and stays as it is where it cannot be extended', () => {
    for (const own of [{ status: 429 }, { statusCode: 504, headers: { 'Retry-After': '60' } }]) {
      const error = Object.assign(new Error('busy'), own)
      expect(asStoreError(error)).toBe(error)
      expect({ ...error }).toEqual(own)
      expect('status' in error && 'statusCode' in error).toBe(false)
    }
    const odd = asStoreError(Object.assign(new Error('busy'), { statusCode: null }))
    expect(odd).toMatchObject(AWAY)
    expect(Object.assign(odd as object, { status: 418 })).toMatchObject({ status: 418 })
    expect(Reflect.deleteProperty(odd as object, 'status')).toBe(true)
    const refusing = new Proxy({}, { defineProperty: () => false })
    for (const value of [Object.freeze(new Error('busy')), 'busy', 7, null, refusing]) {
      expect(asStoreError(value)).toBe(value)
    }
  })

  it('is known again, and shown to clients without its message', () => {
    const error = asStoreError(Object.assign(new Error('at /var/secret'), { status: 500 }))
    const other = new Error('other')
    expect([error, asUnavailable(error), other, 'text', null].map(isStoreError).lastIndexOf(true)).toBe(1)
    const shown = asUnavailable(error) as SessmgrError
    expect(shown).toMatchObject({ code: 'store_unavailable', ...AWAY, cause: error })
    expect(shown.message).not.toContain('secret')
    expect(asUnavailable(other)).toBe(other)
  })
})

describe('a session store that fails', () => {
  const failing = (error: Error) => {
    const fail = (...parameters: unknown[]) => (parameters.at(-1) as (error: Error) => void)(error)
    return storeCalls({ get: fail, set: fail, destroy: fail, touch: fail } as unknown as HostStore, 1000)
  }

  it('for want of a file has nothing to read, touch or destroy, but cannot write; for any other reason, none', async () => {
    for (const code of ['ENOENT', 'EIO']) {
      const error = Object.assign(new Error('no such file'), { code })
      const calls = failing(error)
      const attempts = [
        () => calls.get('a'),
        () => promised<void>((call) => calls.touch?.('a', {}, call)),
        () => calls.destroy('a'),
      ]
      for (const attempt of attempts) {
        if (code === 'ENOENT') expect(await attempt()).toBeUndefined()
        else await expect(attempt()).rejects.toBe(error)
      }
      await expect(calls.set('a', {})).rejects.toBe(error)
      expect([error, calls.health.isDoubtful]).toMatchObject([{ code, ...AWAY }, true])
    }
  })

  it('without an error has failed all the same, and is not taken to have no session', async () => {
    for (const thrown of [undefined, null, false, 0]) {
      const get = () => {
        throw thrown
      }
      await expect(storeCalls({ get } as unknown as HostStore, 1000).get('a')).rejects.toThrow('without an error')
      await expect(sessionCall(new StoreHealth())(get)).rejects.toThrow('without an error')
    }
  })

  it('or does not fail, tells a callback in a turn of its own, or the promise, which ends no process', async () => {
    // Vitest fails for a rejection that nobody handles.
    const outcome = answerCallback(Promise.reject(new Error('down')))
    await nextTurn()
    await expect(outcome).rejects.toThrow('down')
    const told = (result: Promise<string>) =>
      new Promise((resolve) => {
        expect(answerCallback(result, (...all) => resolve(all))).toBeUndefined()
      })
    expect(await told(Promise.resolve('data'))).toEqual([null, 'data'])
    expect(await told(Promise.reject(new Error('down')))).toMatchObject([{ message: 'down' }])
  })
})

function createStores(further: Partial<SessmgrStore> = {}) {
  const stores = new SessionStores({ deadlineMs: 500, store: { ...memoryStore(), ...further } })
  const claim = (store: object) => stores.claim(store as HostStore, storeCalls)
  /** Takes a store in which these sessions are. */
  const holding = (...ids: string[]) => {
    const store = new TestStore()
    for (const id of ids) store.sessions[id] = '{}'
    claim(store)
    return store
  }
  return { stores, claim, holding }
}

describe('the session stores of an application', () => {
  it('have a session that any of them has, and destroy it in all; before one is known, any', async () => {
    const { stores, holding } = createStores()
    expect(await stores.exists('a')).toBe(true)
    const [one, other] = [holding('a'), holding('a', 'b')]
    expect([await stores.exists('a'), await stores.exists('b'), await stores.exists('c')]).toEqual([true, true, false])
    await stores.destroy('a')
    expect([one.ids(), other.ids()]).toEqual([[], ['b']])
  })

  it('are asked at once only where there is one, and where the store of sessmgr can tell', async () => {
    const asked: unknown[][] = []
    const { stores, holding } = createStores({ holdsAll: async (...question) => asked.push(question) > 0 })
    expect(await stores.holdsAll(['a', 'b'])).toBe(false)
    const store = holding('a')
    expect(await stores.holdsAll(['a', 'b'])).toBe(true)
    expect(asked).toEqual([[store, ['a', 'b']]])
    holding('b')
    expect(await stores.holdsAll(['a', 'b'])).toBe(false)
  })
})

describe('a store that the application asks itself', () => {
  it('destroys along with the others, and fails with its own error, which asks the client to come back', async () => {
    const { stores, holding } = createStores()
    const store = holding('a')
    const destroy = vi.fn(async () => 'done')
    const joined = stores.join({ exists: () => false, destroy })
    await stores.destroy('a')
    expect([destroy.mock.calls, store.ids(), await joined.destroy('b')]).toEqual([[['a'], ['b']], [], undefined])
    const error = new Error('locked')
    const fail = () => Promise.reject(error)
    const failing = createStores().stores.join({ exists: fail, destroy: fail })
    await expect(failing.exists('raw-id')).rejects.toBe(error)
    await expect(failing.destroy('raw-id')).rejects.toBe(error)
    expect(error).toMatchObject({ message: 'locked', ...AWAY })
  })
})
