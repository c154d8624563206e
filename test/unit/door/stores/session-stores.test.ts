import { describe, expect, it, vi } from 'vitest'
import type { HostStore } from '../../../../src/door/host-types.ts'
import { SessionStores } from '../../../../src/door/stores/session-stores.ts'
import { storeCalls } from '../../../../src/door/stores/store-calls.ts'
import { memoryStore, type SessmgrStore } from '../../../../src/index.ts'
import { TestStore } from '../../../support/test-store.ts'

function createStores(further: Partial<SessmgrStore> = {}) {
  const stores = new SessionStores({
    deadlineMs: 500,
    store: { ...memoryStore(), ...further },
  })
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
  it('have a session that any of them has, and destroy it in all', async () => {
    const { stores, holding } = createStores()
    const [one, other] = [holding('a'), holding('a', 'b')]
    expect([await stores.exists('a'), await stores.exists('b'), await stores.exists('c')]).toEqual([true, true, false])
    await stores.destroy('a')
    expect([one.ids(), other.ids()]).toEqual([[], ['b']])
  })

  it('may have any session before one of them is known', async () => {
    const { stores } = createStores()
    expect(await stores.exists('a')).toBe(true)
    await stores.destroy('a')
  })

  it('are asked at once only where there is one, and where the store of sessmgr can tell', async () => {
    const asked: unknown[][] = []
    const holdsAll = async (...question: unknown[]) => asked.push(question) > 0
    const { stores, holding } = createStores({ holdsAll })
    expect(await stores.holdsAll(['a', 'b'])).toBe(false)
    const store = holding('a')
    expect(await stores.holdsAll(['a', 'b'])).toBe(true)
    expect(asked).toEqual([[store, ['a', 'b']]])
    holding('b')
    expect(await stores.holdsAll(['a', 'b'])).toBe(false)
    const other = createStores()
    other.holding('a')
    expect(await other.stores.holdsAll(['a'])).toBe(false)
  })

  it('belong to one limiter alone', () => {
    const { claim } = createStores()
    const store = new TestStore()
    const calls = claim(store)
    expect(calls.get).toBeTypeOf('function')
    const message = expect.stringMatching(/is already guarded by another limiter\. Use one limiter only/)
    expect(() => createStores().claim(store)).toThrow(expect.objectContaining({ code: 'invalid_option', message }))
  })
})

describe('a store that the application asks itself', () => {
  it.each([
    [true, true],
    [1, true],
    [false, false],
    [0, false],
  ])('has a session when it answers %j: %j', async (answer, held) => {
    const { stores } = createStores()
    const joined = stores.join({ exists: async (id) => id === 'a' && answer, destroy() {} })
    expect([await joined.exists('a'), await stores.exists('a')]).toEqual([held, held])
  })

  it('destroys along with the others, whatever it answers', async () => {
    const { stores, holding } = createStores()
    const store = holding('a')
    const destroy = vi.fn(async () => 'done')
    const joined = stores.join({ exists: () => false, destroy })
    await stores.destroy('a')
    expect(destroy.mock.calls).toEqual([['a']])
    expect(store.ids()).toEqual([])
    expect(await joined.destroy('b')).toBeUndefined()
  })

  it('must return true or false', async () => {
    const joined = createStores().stores.join({ exists: (() => 'yes') as never, destroy() {} })
    const message = expect.stringContaining('must return true or false, but returned a string')
    await expect(joined.exists('a')).rejects.toMatchObject({ code: 'invalid_option', message })
  })

  it('fails with its own error, which asks the client to come back', async () => {
    const error = new Error('locked')
    const fail = () => Promise.reject(error)
    const joined = createStores().stores.join({ exists: fail, destroy: fail })
    await expect(joined.exists('raw-id')).rejects.toBe(error)
    await expect(joined.destroy('raw-id')).rejects.toBe(error)
    expect(error).toMatchObject({ message: 'locked', status: 503, headers: { 'Retry-After': '2' } })
  })
})
