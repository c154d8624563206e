import { describe, expect, it, vi } from 'vitest'
import type { Directory } from '../../../src/limiter/directory.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { documentStore } from '../../../src/stores/document/document-store.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import type { SessmgrStore } from '../../../src/stores/store.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'
import { MemoryRows } from '../../support/memory-driver.ts'

function openDirectory(maximum = 3) {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const settings = { maximum, logic: 'logout_oldest' }
  const world = createLimiterWorld({ settings, directory: true, clock, store })
  const directory = async () => (await world.limiter.directory) as Directory
  /** The people with their numbers, the latest login first. */
  const people = async () => {
    const page = await (await directory()).page({ sort: 'recent', limit: 500 })
    return page.people.map(({ userId, live }) => [userId, live])
  }
  return { ...world, store, directory, people }
}

describe('the directory', () => {
  it('counts neither displaced nor replaced nor lost sessions', async () => {
    const { login, people, host } = openDirectory(2)
    const logIn = async (attempt = {}) => {
      const id = await login('a', attempt)
      return [id, (await people())[0]?.[1]] as const
    }
    await logIn()
    const [second, two] = await logIn()
    const [[, displaced], [, replaced]] = [await logIn(), await logIn({ replaces: second })]
    host.ids.clear()
    const [, lost] = await logIn()
    expect([two, displaced, replaced, lost]).toEqual([2, 2, 2, 1])
  })

  it('follows every way in which sessions end or start', async () => {
    const { login, people, limiter, clock } = openDirectory()
    const ids = [await login('a'), await login('a'), await login('a')]
    const [first = '', second = '', third = ''] = ids.map((id) => tokenOf(id ?? ''))
    const session = (sessionId: string) => ({ sessionId, ttlMs: 60_000, ip: null, userAgent: null, device: null })
    await limiter.sessions.end('a', first)
    expect(await people()).toEqual([['a', 2]])
    await limiter.release('a', second)
    expect(await people()).toEqual([['a', 1]])
    await limiter.adopt('a', session('old'))
    await limiter.adopt('b', session('other'))
    expect(Object.fromEntries(await people())).toEqual({ a: 2, b: 1 })
    await limiter.sessions.endOthers('a', third)
    await limiter.sessions.endAll('b')
    expect(await people()).toEqual([['a', 1]])
    for (const [userId, id] of ['c1', 'd1', 'c2', 'e1'].map((name) => [name.charAt(0), name] as const)) {
      clock.advance(1)
      await limiter.adopt(userId, session(id))
    }
    await limiter.release('e', tokenOf('e1'))
    expect(await people()).toEqual(Object.entries({ c: 2, d: 1, a: 1 }))
  })

  it('follows a site-wide logout, and ignores the end of sessions that it has made stale', async () => {
    const { login, people, limiter, clock } = openDirectory()
    const stale = (await login('a')) as string
    const kept = tokenOf((await login('b')) as string)
    clock.advance(2000)
    await limiter.sessions.logoutAllUsers({ userId: 'b', token: kept })
    expect(await people()).toEqual([['b', 1]])
    clock.advance(2000)
    await login('a')
    await limiter.invalidate('a', stale)
    expect(Object.fromEntries(await people())).toEqual({ a: 1, b: 1 })
    await limiter.sessions.logoutAllUsers()
    clock.advance(2000)
    await limiter.sessions.logoutAllUsers()
    expect(await people()).toEqual([])
  })

  it('is corrected by whoever has counted, unless a later login was noted', async () => {
    const { login, people, directory, clock } = openDirectory()
    await login('a')
    await login('b')
    const { people: seen } = await (await directory()).page({ sort: 'recent', limit: 9 })
    clock.advance(1)
    await login('a')
    ;(await directory()).correct(seen.map((person) => ({ ...person, live: 0 })))
    expect(await people()).toEqual([['a', 2]])
  })

  it('checks people as they are counted, so that expired sessions leave in time', async () => {
    const { login, directory, clock } = openDirectory()
    for (let id = 0; id < 150; id++) await login(id, undefined, 1000)
    const { count } = await directory()
    await login('long', undefined, 100_000)
    await login('long', undefined, 1000)
    clock.advance(1000)
    for (const _ of [1, 2]) expect(await count()).toMatchObject({ exact: false })
    expect(await count()).toEqual({ counts: new Map([[1, 1]]), exact: true })
  })

  it('is not exact after a change was lost', async () => {
    const driver = new MemoryRows().driver()
    let isDown = true
    const store = documentStore({
      ...driver,
      swap: (key, ...row) =>
        isDown && key.startsWith('i:') ? Promise.reject(new Error('down')) : driver.swap(key, ...row),
    })
    const world = createLimiterWorld({ directory: true, store })
    await world.login('lost')
    const { count } = (await world.limiter.directory) as Directory
    expect(await count()).toEqual({ counts: new Map(), exact: false })
    isDown = false
    await world.login('a')
    expect(await count()).toEqual({ counts: new Map([[1, 1]]), exact: false })
    await world.limiter.close()
  })
})

describe('a store whose index', () => {
  const down = new Error('down')
  const fail = () => {
    throw down
  }
  it.each<[string, () => Promise<void>]>([
    ['throws', fail],
    ['hangs', () => new Promise(() => {})],
  ])('%s lets logins through, and warns once', async (_, note) => {
    const store = memoryStore()
    const people = { ...store.people, collectMs: 1, note } as SessmgrStore['people']
    const settings = { maximum: 2, logic: 'logout_oldest' }
    const world = createLimiterWorld({ settings, directory: true, store: { ...store, people }, deadlineMs: 5 })
    for (let logins = 0; logins < 3; logins++) {
      await world.login('a')
      await (await world.limiter.directory)?.flush()
    }
    expect(await world.live('a')).toHaveLength(2)
    await vi.waitFor(() => expect(world.logged).toHaveLength(1), 10_000)
    const message = expect.stringMatching(/^The index of people could not be updated.*is shown\. .*#a-call-failed$/)
    expect(world.logged[0]?.[0]).toEqual(message)
    await world.limiter.close()
  })

  it('is written to a little after a login, and at the latest when the limiter closes', async () => {
    for (const collectMs of [1, undefined]) {
      const store = memoryStore()
      if (collectMs) Object.assign(store.people, { collectMs })
      const world = createLimiterWorld({ directory: true, store })
      await world.login('a')
      expect(await store.people.count()).toEqual(new Map())
      if (collectMs) await vi.waitFor(async () => expect((await store.people.count()).size).toBe(1))
      await world.limiter.close()
      expect(await store.people.count()).toEqual(new Map([[1, 1]]))
    }
  })
})
