import { describe, expect, it, vi } from 'vitest'
import type { UserId } from '../../../src/ground/user-id.ts'
import type { Directory } from '../../../src/limiter/directory.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { documentStore } from '../../../src/stores/document/document-store.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import type { SessmgrStore } from '../../../src/stores/store.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'
import { MemoryRows } from '../../support/memory-driver.ts'

function openDirectory(settings = { maximum: 3, logic: 'logout_oldest' }) {
  const clock = fakeClock()
  const store = memoryStore({ clock })
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
  it('lists people by their logins', async () => {
    const { login, people, clock } = openDirectory()
    for (const userId of ['a', 2, 'a', '2']) {
      clock.advance(1)
      await login(userId)
    }
    expect(await people()).toEqual([
      ['2', 2],
      ['a', 2],
      [2, 1],
    ])
  })

  it('counts neither displaced nor replaced nor lost sessions', async () => {
    const { login, people, host } = openDirectory({ maximum: 2, logic: 'logout_oldest' })
    await login('a')
    const second = (await login('a')) as string
    expect(await people()).toEqual([['a', 2]])
    await login('a')
    expect(await people()).toEqual([['a', 2]])
    await login('a', { replaces: second })
    expect(await people()).toEqual([['a', 2]])
    host.ids.clear()
    await login('a')
    expect(await people()).toEqual([['a', 1]])
  })

  it('follows every way in which sessions end or start', async () => {
    const { login, people, limiter } = openDirectory()
    const [first, second, third] = [await login('a'), await login('a'), await login('a')].map((id) => tokenOf(id ?? ''))
    await limiter.sessions.end('a', first as string)
    expect(await people()).toEqual([['a', 2]])
    await limiter.release('a', second as string)
    expect(await people()).toEqual([['a', 1]])
    await limiter.adopt('a', { sessionId: 'old', ttlMs: 60_000, ip: null, userAgent: null, device: null })
    await limiter.adopt('b', { sessionId: 'other', ttlMs: 60_000, ip: null, userAgent: null, device: null })
    expect((await people()).toSorted()).toEqual([
      ['a', 2],
      ['b', 1],
    ])
    await limiter.sessions.endOthers('a', third as string)
    await limiter.sessions.endAll('b')
    expect(await people()).toEqual([['a', 1]])
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
    expect(await people()).toEqual([
      ['a', 1],
      ['b', 1],
    ])
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
    const ids: UserId[] = Array.from({ length: 150 }, (_, index) => index)
    for (const id of ids) await login(id, undefined, 1000)
    const { count } = await directory()
    await login('long', undefined, 100_000)
    await login('long', undefined, 1000)
    clock.advance(1000)
    expect(await count(2)).toMatchObject({ exact: false })
    expect(await count(2)).toMatchObject({ exact: false })
    expect(await count(2, 1)).toEqual({ people: 1, sessions: 1, atLeast: [0, 1], exact: true })
  })

  it('is not exact after a change was lost', async () => {
    const driver = new MemoryRows().driver()
    let isDown = true
    const swap: typeof driver.swap = (key, ...row) =>
      isDown && key.startsWith('i:') ? Promise.reject(new Error('down')) : driver.swap(key, ...row)
    const world = createLimiterWorld({
      directory: true,
      store: documentStore({ ...driver, swap }),
      logger: { warn() {}, error() {} },
    })
    await world.login('lost')
    const { count } = (await world.limiter.directory) as Directory
    expect(await count(1)).toMatchObject({ people: 0, exact: false })
    isDown = false
    await world.login('a')
    expect(await count(1)).toMatchObject({ people: 1, exact: false })
    await world.limiter.close()
  })

  it('counts several numbers with one check, and one more read of a database', async () => {
    const driver = new MemoryRows().driver()
    const reads: (readonly string[])[] = []
    const get = (keys: readonly string[]) => {
      if (keys.every((key) => key.startsWith('i:'))) reads.push(keys)
      return driver.get(keys)
    }
    const world = createLimiterWorld({ directory: true, store: documentStore({ ...driver, get }) })
    await world.login('a')
    const { count } = (await world.limiter.directory) as Directory
    await count(1)
    reads.length = 0
    expect(await count(1, 2)).toEqual({ people: 1, sessions: 1, atLeast: [1, 0], exact: true })
    expect(reads).toHaveLength(2)
    await world.limiter.close()
  })

  it('costs a login no other call of the store, and is not waited for', async () => {
    const calls: string[] = []
    const worldOf = (directory: boolean) => {
      const store = memoryStore({ clock: fakeClock() })
      const traced = <Part extends object>(part: Part, name: string) =>
        new Proxy(part, {
          get(target, method) {
            const value = Reflect.get(target, method)
            if (typeof value !== 'function') return value
            calls.push(`${name}.${String(method)}`)
            return value.bind(target)
          },
        })
      const parts = { sessions: traced(store.sessions, 'sessions'), transients: traced(store.transients, 'transients') }
      const people = { ...store.people, note: () => new Promise(() => {}) } as SessmgrStore['people']
      return createLimiterWorld({ directory, store: { ...store, ...parts, people } })
    }
    const counted = []
    for (const directory of [false, true]) {
      calls.length = 0
      const { limiter, login } = worldOf(directory)
      for (let logins = 0; logins < 3; logins++) await login('a')
      counted.push([...calls])
      // What goes on after the last login must not be counted with the next ones.
      await limiter.close()
    }
    expect(counted[0]?.length).toBeGreaterThan(5)
    expect(counted[1]).toEqual(counted[0])
  })
})

describe('a store whose index', () => {
  it.each([
    ['rejects', () => Promise.reject(new Error('down'))],
    [
      'throws',
      () => {
        throw new Error('down')
      },
    ],
    ['hangs', () => new Promise<void>(() => {})],
  ])('%s lets logins through, and warns once', async (_, note) => {
    const store = memoryStore()
    const people = { ...store.people, collectMs: 1, note } as unknown as SessmgrStore['people']
    const world = createLimiterWorld({
      settings: { maximum: 2, logic: 'logout_oldest' },
      directory: true,
      store: { ...store, people },
      deadlineMs: 5,
    })
    for (let logins = 0; logins < 3; logins++) {
      await world.login('a')
      await (await world.limiter.directory)?.flush()
    }
    expect(await world.live('a')).toHaveLength(2)
    await vi.waitFor(() => expect(world.logged).toHaveLength(1), 10_000)
    expect(world.logged.map(([message]) => message)).toEqual([
      expect.stringMatching(/^The index of people could not be updated.*#a-call-failed$/),
    ])
    await world.limiter.close()
  })

  it('recovers lists later logins', async () => {
    const store = memoryStore()
    let isDown = true
    const index = store.people
    const people = {
      page: index.page.bind(index),
      count: index.count.bind(index),
      clear: index.clear.bind(index),
      note: (changes: Parameters<typeof index.note>[0]) =>
        isDown ? Promise.reject(new Error('down')) : index.note(changes),
    }
    const world = createLimiterWorld({ directory: true, store: { ...store, people } })
    await world.login('lost')
    const directory = (await world.limiter.directory) as Directory
    await directory.flush()
    isDown = false
    await world.login('a')
    expect((await directory.page({ sort: 'recent', limit: 9 })).people.map(({ userId }) => userId)).toEqual(['a'])
  })

  it('gets what is left when the limiter closes', async () => {
    const store = memoryStore()
    const world = createLimiterWorld({ directory: true, store })
    await world.login('a')
    expect(await store.people.count()).toEqual({ people: 0, sessions: 0 })
    await world.limiter.close()
    expect(await store.people.count()).toEqual({ people: 1, sessions: 1 })
  })
})
