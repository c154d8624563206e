import { describe, expect, it, vi } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import type { SessmgrStore } from '../../../src/stores/store.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'
import { recordActions } from '../../support/record-actions.ts'

const deviceOf = (name: string) => ({ device: name === '' ? null : name.padEnd(16, '-') })

/** A limiter whose store counts what is asked about cached strings, and may fail there. */
function listen({ store = memoryStore(), fails = false } = {}) {
  const calls: string[] = []
  const watch = <T extends 'get' | 'set'>(name: T): SessmgrStore['transients'][T] => {
    const call = store.transients[name].bind(store.transients) as (...given: unknown[]) => Promise<never>
    return (...given: readonly unknown[]) => {
      if (!String(given[0]).startsWith('devices:')) return call(...given)
      calls.push(name)
      return fails ? Promise.reject(new Error('the store is down')) : call(...given)
    }
  }
  const transients = Object.assign(Object.create(store.transients), { get: watch('get'), set: watch('set') })
  const world = createLimiterWorld({ store: { ...store, transients }, settings: { maximum: 50, logic: 'block' } })
  const events = recordActions(world.limiter.hooks, ['sessmgr_new_device'])
  const login = async (name: string, userId = 7) => {
    const session = await world.login(userId, deviceOf(name))
    // Closing waits for what a login leaves to do.
    await world.limiter.close()
    return session
  }
  /** The devices that were announced, with whether they were the first one. */
  const announced = () =>
    events.map(([, session, about]) => [
      (session as { device: string }).device.replaceAll('-', ''),
      (about as { firstEver: boolean }).firstEver,
    ])
  return { ...world, login, calls, announced }
}

describe('a login from a new device', () => {
  it('is announced once for each device, with its session, and as the first ever at the first', async () => {
    const { login, limiter, announced, calls } = listen()
    for (const name of ['home', 'home', 'phone', 'home', 'phone']) await login(name)
    expect(announced()).toEqual([
      ['home', true],
      ['phone', false],
    ])
    expect(calls).toEqual(['get', 'set', 'get', 'set'])
    await limiter.sessions.endAll(7)
    for (const name of ['phone', 'home']) await login(name)
    expect(announced()).toHaveLength(2)
    expect(calls.slice(4)).toEqual(['get', 'get'])
  })

  it('is one of its user', async () => {
    const { login, announced } = listen()
    await login('home', 7)
    await login('home', 8)
    expect(announced()).toEqual([
      ['home', true],
      ['home', true],
    ])
  })

  it('asks nothing and fires nothing without a device, or when the login is refused', async () => {
    const { login, limiter, announced, calls } = listen()
    await login('')
    await limiter.settings.update({ maximum: 1 })
    expect(await login('home')).toBeUndefined()
    expect([announced(), calls]).toEqual([[], []])
  })

  it('fires nothing and changes nothing else when the store fails', async () => {
    const { login, live, announced, logged } = listen({ fails: true })
    const session = await login('home')
    expect(await live(7)).toEqual([session])
    expect(announced()).toEqual([])
    const details = { token: tokenOf(String(session)), error: 'the store is down' }
    expect(logged).toEqual([[expect.stringContaining('could not be read or saved'), details]])
    expect(JSON.stringify(logged)).not.toContain(session)
  })

  it('fires nothing with a store that keeps no devices', async () => {
    const store = memoryStore()
    const { commit } = store.sessions
    store.sessions.commit = async (userId, version, { admit, ...change }) => {
      const { device: _, ...known } = admit
      return commit.call(store.sessions, userId, version, { ...change, admit: known as typeof admit })
    }
    const { login, limiter, announced } = listen({ store })
    for (const name of ['home', 'phone']) await login(name)
    expect([announced(), await limiter.sessions.count(7)]).toEqual([[], 2])
  })

  it('does not keep the answer waiting', async () => {
    const store = memoryStore()
    const { get } = store.transients
    const hang = new Promise<string | undefined>(() => {})
    store.transients.get = (key) => (key.startsWith('devices:') ? hang : get.call(store.transients, key))
    const { login } = createLimiterWorld({ store })
    expect(await login(7, deviceOf('home'))).toBeDefined()
  })

  it('is remembered for 400 days', async () => {
    const store = memoryStore()
    const set = vi.spyOn(store.transients, 'set')
    await listen({ store }).login('home')
    expect(set.mock.lastCall?.[2]).toBe(400 * 86_400_000)
  })

  it('remembers 20 devices, and those of live sessions when its list is gone', async () => {
    const store = memoryStore()
    const { login, limiter, announced } = listen({ store })
    for (let device = 0; device < 21; device++) await login(`d${device}`)
    await limiter.sessions.endAll(7)
    await login('d20')
    await login('d1')
    expect(announced()).toHaveLength(21)
    await login('d0')
    expect(announced()).toHaveLength(22)

    for (const name of ['a', 'b']) await login(name, 8)
    await store.transients.set(`devices:${tokenOf('8')}`, 'gone', 0)
    for (const name of ['a', 'b', 'c']) await login(name, 8)
    await limiter.sessions.endAll(8)
    for (const name of ['a', 'b', 'c']) await login(name, 8)
    expect(announced().slice(22)).toEqual([
      ['a', true],
      ['b', false],
      ['c', false],
    ])
  })

  it('announces one too many at worst when two first logins come at once', async () => {
    const store = memoryStore()
    const { login, limiter, announced } = listen({ store })
    await Promise.all([login('home'), login('phone')])
    expect(announced()).toEqual([
      ['home', true],
      ['phone', false],
    ])
    await limiter.sessions.endAll(7)
    for (const name of ['home', 'phone', 'home', 'phone']) await login(name)
    expect(announced().length).toBeLessThanOrEqual(3)
  })
})
