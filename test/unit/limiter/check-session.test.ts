import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'

const wide = { settings: { maximum: 10 } }
const old = (sessionId: string) => ({ sessionId, ttlMs: 60_000, ip: null, userAgent: null, device: null })
const OVER = { live: false, reason: 'ended' }
const LOGGED_OUT = { live: false, reason: 'logout_all' }

describe('checking a session', () => {
  it('finds a registered one live, and others over: unknown, ended, released, expired, or of another user', async () => {
    const { limiter, clock, login } = createLimiterWorld(wide)
    const ids = [await login(7), await login(7), await login(7), await login(7, {}, 1000)].map(String)
    const [live = '', ended = '', released = '', expired = ''] = ids.map(tokenOf)
    await limiter.sessions.end(7, ended)
    await limiter.release(7, released)
    clock.advance(1000)
    expect(await limiter.check(7, live)).toMatchObject({ live: true })
    for (const token of [tokenOf('unknown'), ended, released, expired]) {
      expect(await limiter.check(7, token)).toEqual(OVER)
    }
    expect(await limiter.check(8, live)).toEqual(OVER)
  })

  it('rule 15: finds one from before a site-wide logout over for that reason, and changes nothing', async () => {
    const { limiter, host, fired, login } = createLimiterWorld(wide)
    const before = tokenOf(String(await login(7)))
    await limiter.sessions.logoutAllUsers()
    const after = tokenOf(String(await login(7)))
    fired.length = 0
    for (const _ of [1, 2]) expect(await limiter.check(7, before)).toMatchObject(LOGGED_OUT)
    expect(await limiter.check(7, after)).toMatchObject({ live: true })
    expect([host.ids.size, fired]).toEqual([2, []])
    await limiter.sessions.logoutAllUsers()
    expect(await limiter.check(7, after)).toMatchObject(LOGGED_OUT)
  })
})

describe('adopting a session from before the service', () => {
  it('rule 13: registers it, over the limit too, logs nobody out, and counts it at the next login', async () => {
    const { limiter, host, fired, login, live } = createLimiterWorld({ settings: { maximum: 1, logic: 'block' } })
    const first = await login(7)
    for (const user of [7, 8]) {
      host.ids.add(`old ${user}`)
      expect(await limiter.adopt(user, old(`old ${user}`))).toMatchObject({ live: true })
    }
    expect([await live(7), fired]).toEqual([[first, tokenOf('old 7')], []])
    expect(await login(8)).toBeUndefined()
  })

  it('rule 13: finds it stale after any site-wide logout; rule 14: does not bring an ended one back', async () => {
    const { limiter, host, live, login } = createLimiterWorld()
    await limiter.sessions.logoutAllUsers()
    host.ids.add('old')
    expect(await limiter.adopt(7, old('old'))).toMatchObject(LOGGED_OUT)
    const id = String(await login(7))
    await limiter.sessions.end(7, tokenOf(id))
    expect(await limiter.adopt(7, old(id))).toEqual(OVER)
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

it('rule 16: a stale session is invalidated once, however many requests race for it, and an adopted one too', async () => {
  const { limiter, host, fired, login } = createLimiterWorld()
  const id = String(await login(7))
  await limiter.sessions.logoutAllUsers()
  host.ids.add('old')
  await limiter.adopt(8, old('old'))
  fired.length = 0
  await Promise.all(Array.from({ length: 20 }, () => limiter.invalidate('7', id)))
  await limiter.invalidate(8, 'old')
  expect(fired).toEqual([
    ['sessmgr_session_invalidated', 7, tokenOf(id)],
    ['sessmgr_session_invalidated', 8, tokenOf('old')],
  ])
  expect([host.ids.size, await limiter.check(7, tokenOf(id))]).toEqual([0, OVER])
})

it('a use moves the expiry of a session, until it has expired', async () => {
  const { limiter, clock, login, live } = createLimiterWorld()
  const id = String(await login(7, {}, 1000))
  clock.advance(900)
  expect(await limiter.touch(7, tokenOf(id), 1000)).toBe(true)
  clock.advance(900)
  expect(await live(7)).toEqual([id])
  clock.advance(100)
  expect([await limiter.touch(7, tokenOf(id), 1000), await live(7)]).toEqual([false, []])
})

it('rule 14: a release frees the slot at once, fires nothing, and says whether the session was live', async () => {
  const { limiter, fired, login, live } = createLimiterWorld({ settings: { logic: 'block' } })
  const token = tokenOf(String(await login(7)))
  expect([await limiter.release(7, token), await limiter.release(7, token), fired]).toEqual([true, false, []])
  const next = String(await login(7))
  expect(await live(7)).toEqual([next])
  await limiter.sessions.logoutAllUsers()
  expect(await limiter.release(7, tokenOf(next))).toBe(false)
})
