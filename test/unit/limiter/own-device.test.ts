import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'

const HOME = { device: 'home-12345678901' }
const WORK = { device: 'work-12345678901' }
const ONE = { settings: { maximum: 1, logic: 'block' } }

describe('a login from a browser that has a session of the user', () => {
  it('is always admitted in mode block, and has one session', async () => {
    const { host, fired, login, live } = createLimiterWorld(ONE)
    for (let count = 0; count < 50; count++) {
      const session = await login(7, HOME)
      expect(await live(7)).toEqual([session])
    }
    expect(host.ids.size).toBe(1)
    expect(fired).toEqual([])
  })

  it('leaves the limit to other browsers', async () => {
    const { login, live } = createLimiterWorld(ONE)
    const first = await login(7, HOME)
    expect([await login(7, WORK), await login(7), await login(7, { device: null })]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(await live(7)).toEqual([first])
  })

  it.each(['allow', 'block', 'logout_oldest'])('displaces nobody in mode %s', async (logic) => {
    const { fired, login, live } = createLimiterWorld({ settings: { maximum: 2, logic } })
    await login(7, HOME)
    const other = await login(7, WORK)
    const next = await login(7, HOME)
    expect(await live(7)).toEqual([other, next])
    expect(fired).toEqual([])
  })

  it('does not take logins without a device for one browser', async () => {
    const { login, live } = createLimiterWorld({ settings: { maximum: 2, logic: 'block' } })
    const sessions = [await login(7), await login(7, { device: null })]
    expect(await live(7)).toEqual(sessions)
  })

  it('keeps the session of another user in it', async () => {
    const { login, live } = createLimiterWorld(ONE)
    const [first, second] = [await login(7, HOME), await login(8, HOME)]
    expect([await live(7), await live(8)]).toEqual([[first], [second]])
  })

  it('keeps the session whose id the framework uses again', async () => {
    const { limiter, host } = createLimiterWorld(ONE)
    const attempt = { userId: 7, ...HOME }
    await limiter.admit(attempt, async () => host.establish(1000, 'same'))
    expect(await limiter.admit(attempt, async () => host.establish(1000, 'same'))).toMatchObject({ admitted: true })
    expect([...host.ids]).toEqual(['same'])
    expect(await limiter.sessions.count(7)).toBe(1)
  })

  it('replaces it under bypass too, but not what a site-wide logout has ended', async () => {
    const store = memoryStore()
    const { limiter, login, live } = createLimiterWorld({ store, settings: { maximum: 5, logic: 'allow' } })
    limiter.hooks.addFilter('sessmgr_bypass', 'test', () => true)
    await login(7, HOME)
    await limiter.sessions.logoutAllUsers()
    await login(7, HOME)
    const last = await login(7, HOME)
    expect(await live(7)).toEqual([last])
    expect((await store.sessions.read(7)).sessions).toHaveLength(2)
  })

  it('asks the store no more than a login that replaces the session of its cookie', async () => {
    const calls: string[] = []
    const clock = fakeClock()
    const store = memoryStore({ clock })
    for (const part of ['sessions', 'epoch', 'options', 'transients'] as const) {
      const methods = store[part] as unknown as Record<string, (...given: unknown[]) => unknown>
      for (const name of ['read', 'useOf', 'commit', 'end', 'current', 'get', 'set']) {
        const method = methods[name]?.bind(store[part])
        if (!method) continue
        methods[name] = (...given) => {
          calls.push(`${part}.${name}`)
          return method(...given)
        }
      }
    }
    const { limiter, login } = createLimiterWorld({ ...ONE, store, clock })
    const asked = async (attempt: Parameters<typeof login>[1]) => {
      // A session that is younger than the login would have to be checked for an erasure.
      clock.advance(1000)
      calls.length = 0
      expect(await login(7, attempt)).toBeDefined()
      await limiter.close()
      return calls.join()
    }
    const first = await login(7)
    const replaced = await asked({ replaces: first })
    await limiter.sessions.endAll(7)
    await login(7, HOME)
    await limiter.close()
    expect(await asked(HOME)).toBe(replaced)
    expect(replaced).toContain('sessions.commit')
  })

  it('leaves one session after parallel logins in two processes', async () => {
    const store = memoryStore()
    const first = createLimiterWorld({ ...ONE, store })
    const second = createLimiterWorld({ ...ONE, store, host: first.host })
    await first.login(7, HOME)
    const logins = Array.from({ length: 40 }, (_, index) => (index % 2 ? first : second).login(7, HOME))
    expect(await Promise.all(logins)).not.toContain(undefined)
    expect(await first.live(7)).toHaveLength(1)
    expect(first.host.ids.size).toBe(1)
  })
})
