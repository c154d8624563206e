import { describe, expect, it, vi } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'

describe('a session to keep that an earlier site-wide logout has ended', () => {
  it('stays over', async () => {
    const { limiter, login, live } = createLimiterWorld()
    const token = tokenOf(String(await login(7)))
    await limiter.sessions.logoutAllUsers()
    await limiter.sessions.logoutAllUsers({ userId: 7, token })
    expect(await live(7)).toEqual([])
    expect(await limiter.check(7, token)).toMatchObject({ live: false })
  })

  it('rule 5: is not revived beside a login that has its place, not even for a moment', async () => {
    const store = memoryStore()
    const { limiter, login, live } = createLimiterWorld({ store, settings: { maximum: 1, logic: 'block' } })
    const token = tokenOf(String(await login(7)))
    const restamp = store.sessions.restamp.bind(store.sessions)
    let seen: readonly string[] = []
    vi.spyOn(store.sessions, 'restamp').mockImplementationOnce(async (...call) => {
      await limiter.sessions.logoutAllUsers()
      expect(await login(7)).toBeDefined()
      const result = await restamp(...call)
      seen = await live(7)
      return result
    })
    await limiter.sessions.logoutAllUsers({ userId: 7, token })
    expect(seen).toHaveLength(1)
    expect(await live(7)).toEqual([])
  })
})

describe('a session to keep that another site-wide logout keeps at the same time', () => {
  it('stays live, as after a double click', async () => {
    const store = memoryStore()
    const { limiter, login, live } = createLimiterWorld({ store })
    const sessionId = String(await login(7))
    const keep = { userId: 7, token: tokenOf(sessionId) }
    vi.spyOn(store.epoch, 'current').mockImplementationOnce(async () => {
      await limiter.sessions.logoutAllUsers(keep)
      return store.epoch.current()
    })
    await limiter.sessions.logoutAllUsers(keep)
    expect(await live(7)).toEqual([sessionId])
  })
})
