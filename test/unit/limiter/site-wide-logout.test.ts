import { describe, expect, it, vi } from 'vitest'
import { helpAt } from '../../../src/ground/help.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { createLimiterWorld, SimpleHost } from '../../support/limiter-world.ts'

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

describe('the warning that a restart forgets a site-wide logout', () => {
  it.each([
    ['is logged once where sessions outlive the store', true, true, 1],
    ['is not logged where sessions are lost in the restart too', true, false, 0],
    ['is not logged where the store survives the restart', false, true, 0],
    ['is not logged where both survive', false, false, 0],
  ])('%s', async (_what, local, mayLast, warnings) => {
    const host = Object.assign(new SimpleHost(), { mayLast })
    const { limiter, logged } = createLimiterWorld({ store: { ...memoryStore(), local }, host })
    await limiter.sessions.logoutAllUsers()
    await limiter.sessions.logoutAllUsers()
    const message =
      /^Every user was logged out, but .* sessions? .*become valid again\. Use a store .*sqlite.*postgres.*redisStore\(\) from sessmgr\/redis\. See /
    expect(logged).toEqual(Array(warnings).fill([expect.stringMatching(message)]))
    for (const [line] of logged) expect(line).toContain(helpAt('sessions-outlive-the-store'))
  })
})
