import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'

const wide = { settings: { maximum: 10 } }
const old = (sessionId: string) => ({ sessionId, ttlMs: 60_000, ip: null, userAgent: null, device: null })

describe('checking a session', () => {
  it('finds a registered one live', async () => {
    const { limiter, login } = createLimiterWorld(wide)
    expect(await limiter.check(7, tokenOf(String(await login(7))))).toMatchObject({ live: true })
  })

  it('finds one over that was never registered, was ended, was released, or has expired', async () => {
    const { limiter, clock, login } = createLimiterWorld(wide)
    const over = { live: false, reason: 'ended' }
    expect(await limiter.check(7, tokenOf('unknown'))).toEqual(over)
    const [ended, released, expired] = [await login(7), await login(7), await login(7, {}, 1000)].map(String)
    await limiter.sessions.end(7, tokenOf(String(ended)))
    await limiter.release(7, tokenOf(String(released)))
    clock.advance(1000)
    for (const id of [ended, released, expired]) expect(await limiter.check(7, tokenOf(String(id)))).toEqual(over)
  })

  it('finds no session of another user', async () => {
    const { limiter, login } = createLimiterWorld(wide)
    const token = tokenOf(String(await login(7)))
    expect(await limiter.check(8, token)).toEqual({ live: false, reason: 'ended' })
  })

  it('rule 15: finds one from before a site-wide logout over for that reason, and one from after it live', async () => {
    const { limiter, login } = createLimiterWorld(wide)
    const before = tokenOf(String(await login(7)))
    await limiter.sessions.logoutAllUsers()
    const after = tokenOf(String(await login(7)))
    expect(await limiter.check(7, before)).toMatchObject({ live: false, reason: 'logout_all' })
    expect(await limiter.check(7, after)).toMatchObject({ live: true })
    await limiter.sessions.logoutAllUsers()
    expect(await limiter.check(7, after)).toMatchObject({ live: false, reason: 'logout_all' })
  })

  it('changes nothing', async () => {
    const { limiter, host, fired, login } = createLimiterWorld(wide)
    const token = tokenOf(String(await login(7)))
    await limiter.sessions.logoutAllUsers()
    fired.length = 0
    await limiter.check(7, token)
    expect(await limiter.check(7, token)).toMatchObject({ live: false, reason: 'logout_all' })
    expect(host.ids.size).toBe(1)
    expect(fired).toEqual([])
  })
})

describe('adopting a session from before the service', () => {
  it('rule 13: registers it, over the limit too, and logs nobody out', async () => {
    const { limiter, host, fired, login, live } = createLimiterWorld()
    const first = await login(7)
    host.ids.add('old')
    expect(await limiter.adopt(7, old('old'))).toMatchObject({ live: true })
    expect(await live(7)).toEqual([first, tokenOf('old')])
    expect(fired).toEqual([])
  })

  it('rule 13: counts it at the next login', async () => {
    const { limiter, host, login } = createLimiterWorld({ settings: { maximum: 2, logic: 'block' } })
    for (const id of ['old 1', 'old 2']) {
      host.ids.add(id)
      await limiter.adopt(7, old(id))
    }
    expect(await login(7)).toBeUndefined()
  })

  it('rule 13: finds it stale after any site-wide logout', async () => {
    const { limiter, host, live } = createLimiterWorld()
    await limiter.sessions.logoutAllUsers()
    host.ids.add('old')
    expect(await limiter.adopt(7, old('old'))).toMatchObject({ live: false, reason: 'logout_all' })
    expect(await live(7)).toEqual([])
  })

  it('rule 14: does not bring an ended one back', async () => {
    const { limiter, login, live } = createLimiterWorld()
    const id = String(await login(7))
    await limiter.sessions.end(7, tokenOf(id))
    expect(await limiter.adopt(7, old(id))).toEqual({ live: false, reason: 'ended' })
    expect(await live(7)).toEqual([])
  })

  it('leaves one that is registered as it was', async () => {
    const { limiter, login } = createLimiterWorld()
    await limiter.sessions.logoutAllUsers()
    const id = String(await login(7))
    const before = await limiter.sessions.list(7)
    expect(await limiter.adopt(7, { ...old(id), ip: '192.0.2.99' })).toMatchObject({ live: true })
    expect(await limiter.sessions.list(7)).toEqual(before)
  })
})

describe('invalidating a stale session', () => {
  it('rule 16: ends it, fires with the hashed token, and once however many requests race for it', async () => {
    const { limiter, host, fired, login } = createLimiterWorld()
    const id = String(await login(7))
    await limiter.sessions.logoutAllUsers()
    fired.length = 0
    await Promise.all(Array.from({ length: 20 }, () => limiter.invalidate('7', id)))
    expect(fired).toEqual([['sessmgr_session_invalidated', 7, tokenOf(id)]])
    expect(host.ids.size).toBe(0)
    expect(await limiter.check(7, tokenOf(id))).toEqual({ live: false, reason: 'ended' })
  })

  it('rule 16: fires for an adopted one too', async () => {
    const { limiter, host, fired } = createLimiterWorld()
    await limiter.sessions.logoutAllUsers()
    host.ids.add('old')
    await limiter.adopt(7, old('old'))
    await limiter.invalidate(7, 'old')
    expect(fired.slice(1)).toEqual([['sessmgr_session_invalidated', 7, tokenOf('old')]])
  })
})

describe('using a session', () => {
  it('moves its expiry', async () => {
    const { limiter, clock, login, live } = createLimiterWorld()
    const id = String(await login(7, {}, 1000))
    clock.advance(900)
    expect(await limiter.touch(7, tokenOf(id), 1000)).toBe(true)
    clock.advance(900)
    expect(await live(7)).toEqual([id])
    clock.advance(100)
    expect(await limiter.touch(7, tokenOf(id), 1000)).toBe(false)
    expect(await live(7)).toEqual([])
  })
})

describe('releasing a session', () => {
  it('rule 14: frees its slot at once and fires nothing', async () => {
    const { limiter, host, fired, login, live } = createLimiterWorld({ settings: { logic: 'block' } })
    const id = String(await login(7))
    expect(await login(7)).toBeUndefined()
    fired.length = 0
    await host.destroy(id)
    await limiter.release(7, tokenOf(id))
    expect(fired).toEqual([])
    const next = await login(7)
    expect(next).toBeDefined()
    expect(await live(7)).toEqual([next])
  })
})
