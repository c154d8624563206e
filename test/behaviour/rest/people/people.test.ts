import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Host } from '../../../../src/index.ts'
import { forThisFile } from '../../../support/for-this-file.ts'
import { registerSession } from '../../../support/register-session.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { createRestUsers, type RestUser, restHostOf } from '../../../support/rest-users.ts'
import { rounds } from '../../../support/rounds.ts'
import { AGENTS } from '../../../support/user-agents.ts'

const DAY_MS = 24 * 60 * 60_000
const SORTS = ['recent', 'most', 'places']
const CROWD = ['alice', 'alice', 'bob', 'bob', 'bob', 'carol']

const host = forThisFile(() => startRestHost({ host: { location: (ip) => (ip === '127.0.0.1' ? 'Here' : undefined) } }))
const headers = forThisFile(() => host.scriptOf('admin'))
const get = (path: string, more: object = {}) =>
  host.call('GET', `/sessmgr/v1/people${path}`, { headers: { ...headers, ...more } })
const list = async (query = '') => (await get(query)).json
const summary = async () => (await get('/summary')).json
const loginsOf = ({ people }: { people: readonly { user: { login: string } }[] }) =>
  people.map(({ user }) => user.login)
const signInAll = async (...logins: string[]) => {
  for (const login of logins) await host.signIn(login)
}
const noteAll = (ids: readonly number[], live: number) =>
  host.registry.people.note(ids.map((userId) => ({ userId, at: Date.now(), live })))

beforeEach(async () => {
  for (const { id } of host.users) await host.limiter.sessions.endAll(id)
  await host.limiter.settings.reset()
  host.logs.length = 0
})

function later(ms: number): void {
  const { now } = Date
  const spy = vi.spyOn(Date, 'now').mockImplementation(() => now() + ms)
  onTestFinished(() => void spy.mockRestore())
}

function filter(name: 'sessmgr_maximum' | 'sessmgr_bypass', value: (given: unknown, userId: unknown) => unknown) {
  host.limiter.hooks.addFilter(name, 'test', value as () => never)
  onTestFinished(() => void host.limiter.hooks.removeFilter(name, 'test'))
}

describe('GET /people', () => {
  it('lists who is signed in, the last login first, and 304 while nothing has changed', async () => {
    const from = Math.floor(Date.now() / 1000)
    await host.signIn('bob', AGENTS.windows)
    for (const agent of [AGENTS.linux, AGENTS.iphone, 'curl/8.1']) await host.signIn('alice', agent)
    const answer = await get('')
    const alice = {
      user: { id: 2, login: 'alice', display_name: 'ALICE' },
      live: 3,
      maximum: 5,
      over: false,
      devices: { computers: 1, phones: 1, tablets: 0, tvs: 0, programs: 1, unknown: 0 },
      last_seen: expect.any(Number),
      signed_in: expect.any(Number),
      ip: '127.0.0.1',
      place: 'Here',
      places: 1,
    }
    const bob = { user: { id: 3, login: 'bob', display_name: 'BOB' }, live: 1 }
    expect(answer.json).toEqual({ people: [alice, expect.objectContaining(bob)], exact: true })
    for (const { last_seen, signed_in } of answer.json.people) {
      for (const time of [last_seen, signed_in]) expect(Number.isInteger(time) && time >= from).toBe(true)
    }
    expect(loginsOf(await list('?show=programs'))).toEqual(['alice'])
    const tags = Object.entries({ '': answer.headers.etag, '/summary': (await get('/summary')).headers.etag })
    const again = () => Promise.all(tags.map(([path, etag]) => get(path, { 'if-none-match': etag })))
    expect((await again()).map(({ status }) => status)).toEqual([304, 304])
    await host.signIn('alice')
    expect((await again()).map(({ status }) => status)).toEqual([200, 200])
  })

  it('sorts, and lists those at and over their own limit', async () => {
    await signInAll(...CROWD)
    expect(loginsOf(await list('?sort=most'))).toEqual(['bob', 'alice', 'carol'])
    expect(loginsOf(await list('?sort=recent'))).toEqual(['carol', 'bob', 'alice'])
    await host.limiter.settings.update({ maximum: 2 })
    const shown = async (show: string) =>
      Promise.all(['recent', 'most'].map(async (sort) => loginsOf(await list(`?show=${show}&sort=${sort}`)).join()))
    expect([await shown('at_limit'), await shown('over_limit')]).toEqual([
      ['bob,alice', 'bob,alice'],
      ['bob', 'bob'],
    ])
    expect((await list('?show=over_limit')).people[0]).toMatchObject({ live: 3, maximum: 2, over: true })
    await host.limiter.settings.update({ enforce: false })
    const [over] = (await list('?show=over_limit')).people
    expect(over).toMatchObject({ live: 3, maximum: null, maximum_if_enforced: 2, over: false })
    expect(await shown('over_limit&than=1')).toEqual(['bob,alice', 'bob,alice'])
    await host.limiter.settings.update({ enforce: true })
    filter('sessmgr_maximum', (maximum, userId) => (userId === 4 ? 1 : maximum))
    filter('sessmgr_bypass', (_, userId) => userId === 3)
    const limits = (await list('?show=at_limit')).people.map(({ user }: { user: RestUser }) => user.login)
    expect(limits.toSorted()).toEqual(['alice', 'carol'])
    expect(await shown('over_limit')).toEqual(['', ''])
    expect((await list('?sort=most')).people[0]).toMatchObject({ live: 3, maximum: null, over: false })
  })

  it('lists those with the most places, and those who used several of them at once', async () => {
    const uses = ['2:1', '2:2', '2:3', '3:2', '4:1', '4:1', '4:1', '4:1'].map((use) => use.split(':').map(Number))
    // What was used long before hides no two places at once.
    await registerSession(host, 3, { ip: '203.0.113.1', ttlMs: 9 * DAY_MS })
    await registerSession(host, 2, { ip: '203.0.113.9', ttlMs: 9 * DAY_MS })
    later(3 * DAY_MS)
    for (const [index, [id = 0, place]] of uses.entries()) {
      // A device changes its address within its IPv6 network, which is one place.
      const ip = id === 4 ? `2001:db8:0:1:${index}::1` : `203.0.113.${place}`
      await registerSession(host, id, { ip, ttlMs: 9 * DAY_MS })
    }
    // What ended before is noted first.
    await list()
    await noteAll([2, 3, 4], 4)
    const byPlaces = await list('?sort=places')
    expect(byPlaces.people.map(({ places }: { places: number }) => places)).toEqual([4, 2, 1])
    expect(loginsOf(byPlaces)).toEqual(['alice', 'bob', 'carol'])
    for (const sort of SORTS) expect(loginsOf(await list(`?show=places&sort=${sort}`)), sort).toEqual(['alice'])
    const first = await list('?sort=places&limit=1')
    expect([loginsOf(first), first.exact]).toEqual([['alice'], true])
    expect(loginsOf(await list(`?sort=places&limit=1&cursor=${first.next}`))).toEqual(['bob'])
    expect((await get('?sort=places&cursor=x')).status).toBe(400)
    for (const id of [2, 3, 4]) await host.limiter.sessions.endAll(id)
    await list()
  })

  it('lists those who have not used any session for 30 days', async () => {
    const ttlMs = 60 * DAY_MS
    for (const id of [3, 3, 4]) await registerSession(host, id, { ttlMs })
    await noteAll([3, 4], 2)
    expect(loginsOf(await list('?show=idle'))).toEqual([])
    later(31 * DAY_MS)
    await registerSession(host, 4, { ttlMs })
    expect(loginsOf(await list('?show=idle'))).toEqual(['bob'])
  })

  it('leaves out who is in the index but not signed in, and names a deleted user by the id', async () => {
    await host.signIn('alice')
    const at = Date.now()
    await host.registry.people.note([2, 3].map((userId) => ({ userId, at: at + 60_000, live: 9 })))
    expect((await list('?sort=most')).people).toEqual([expect.objectContaining({ live: 1 })])
    expect(await summary()).toMatchObject({ people: 1, sessions: 1 })
    await host.limiter.sessions.endAll(2)
    await registerSession(host, 99)
    await noteAll([99], 1)
    const deleted = { user: { id: 99, login: '99', display_name: '' }, live: 1 }
    expect((await list()).people).toEqual([expect.objectContaining(deleted)])
    await host.limiter.sessions.endAll(99)
  })
})

describe('GET /people/summary', () => {
  it('counts people, sessions, people by their sessions, those at and over the limit, and refused logins', async () => {
    await signInAll(...CROWD)
    await host.limiter.settings.update({ maximum: 2, logic: 'block' })
    const before = await summary()
    const exact = { exact: true, limits_exact: true, used_exact: true }
    const by_sessions = [1, 2, 3].map((sessions) => ({ sessions, people: 1 }))
    const counts = { people: 3, sessions: 6, by_sessions, used_15m: 3, at_limit: 2, over_limit: 1 }
    expect(before).toEqual({ ...counts, ...exact, enforced: true, refused_24h: expect.any(Number) })
    expect((await host.send('POST', '/login/alice', {})).status).not.toBe(200)
    expect(await summary()).toEqual({ ...before, refused_24h: before.refused_24h + 1 })
    await host.limiter.settings.update({ enforce: false })
    expect(await summary()).toMatchObject({ people: 3, at_limit: 2, over_limit: 1, enforced: false })
    later(16 * 60_000)
    await host.signIn('dora')
    expect(await summary()).toMatchObject({ people: 4, used_15m: 1, used_exact: true })
  })

  it('is exact about limits of their own, but not if one cannot be found out, which the list then leaves out', async () => {
    await signInAll('alice', 'alice', 'bob')
    filter('sessmgr_maximum', (maximum, userId) => (userId === 2 ? 1 : maximum))
    expect(await summary()).toMatchObject({ at_limit: 1, over_limit: 1, limits_exact: true })
    filter('sessmgr_maximum', () => Promise.reject(new Error('no database')))
    expect(await summary()).toMatchObject({ exact: true, limits_exact: false })
    const [row] = (await list()).people
    expect(row).toMatchObject({ over: false })
    expect(row).not.toHaveProperty('maximum')
  })
})

it('a bad parameter of the people is refused by its name', async () => {
  for (const [query, name] of [
    ['?show=some', 'show'],
    ['?than=0', 'than'],
    ['?sort=name', 'sort'],
    ['?limit=101', 'limit'],
    ['?cursor=1.%2e%2e%2f', 'cursor'],
    ['?show=all&show=idle', 'show'],
    ['/search', 'q'],
    ['/search?q=%20%20', 'q'],
    [`/search?q=${'a'.repeat(201)}`, 'q'],
    ['/export?format=xml', 'format'],
  ] as const) {
    const { status, json } = await get(query)
    const refusal = [status, json.code, Object.keys(json.data?.params ?? {})]
    expect(refusal, query).toEqual([400, 'rest_invalid_param', [name]])
  }
})

it('GET /people/search finds exact names and addresses if the application cannot search', async () => {
  const people = [{ user: { id: 2, login: 'alice', display_name: 'ALICE' }, live: 0 }]
  for (const q of ['ALICE', 'alice@example.test']) {
    expect(await list(`/search?q=${q}`)).toEqual({ searchable: false, people })
  }
  expect(await list('/search?q=alic')).toEqual({ searchable: false, people: [] })
})

it('there is no list if the directory is off', async () => {
  const without = await startRestHost({ sessmgr: { directory: false } })
  onTestFinished(() => without.close())
  const script = await without.scriptOf('admin')
  const call = (path: string) => without.call('GET', `/sessmgr/v1/people${path}`, { headers: script })
  for (const path of ['', '/summary', '/export', '/export?format=json']) {
    const { status, json } = await call(path)
    expect([status, json.code], path).toEqual([404, 'no_directory'])
  }
  expect((await call('/search?q=127.0.0.1')).json).toEqual({ searchable: false, people: [] })
})

it('of very many people, each is listed once, those over the limit among 500 a page or at once, all are in the file', async () => {
  // Ten of them have three sessions, and everyone else has one. 10,000 in the campaign.
  const COUNT = rounds(1000)
  const live = (index: number) => (index % (COUNT / 10) === 0 ? 3 : 1)
  const known = createRestUsers()
  let found = 0
  const users = {
    ...restHostOf(known).users,
    findById(id: number | string): RestUser {
      found += 1
      return known.find((user) => user.id === Number(id)) ?? { id: Number(id), login: `u${id}`, role: 'subscriber' }
    },
  }
  const crowd = await startRestHost({ host: { users } as Partial<Host> })
  onTestFinished(() => crowd.close())
  const script = await crowd.scriptOf('admin')
  const page = async (path: string) => (await crowd.call('GET', `/sessmgr/v1/people${path}`, { headers: script })).json
  const readAll = async (query: string) => {
    const [ids, cursors]: [number[], string[]] = [[], ['']]
    for (const cursor of cursors) {
      found = 0
      const { people, next } = await page(`?${query}${cursor}`)
      expect(found).toBeLessThanOrEqual(101)
      ids.push(...people.map(({ user }: { user: { id: number } }) => user.id))
      if (next !== undefined) cursors.push(`&cursor=${encodeURIComponent(next)}`)
    }
    return { ids, pages: cursors.length }
  }

  const now = Date.now()
  const people = Array.from({ length: COUNT }, (_, index) => ({
    userId: 1000 + index,
    at: now - index,
    live: live(index),
  }))
  for (const { userId, live } of people) {
    for (let count = 0; count < live; count++) await registerSession(crowd, userId)
  }
  await crowd.registry.people.note(people)
  const ids = people.map(({ userId }) => userId)
  expect(await readAll('limit=100')).toEqual({ ids, pages: COUNT / 100 })
  await crowd.limiter.settings.update({ maximum: 2 })
  const over = people.filter(({ live }) => live === 3).map(({ userId }) => userId)
  expect(await page('?show=over_limit')).toMatchObject({ next: expect.any(String), exact: false })
  expect(await readAll('show=over_limit')).toEqual({ ids: over, pages: COUNT / 500 })
  const { people: most, ...rest } = await page('?show=over_limit&sort=most')
  expect([most.length, rest]).toEqual([10, { exact: true }])
  const counts = { people: COUNT, sessions: COUNT + 20, at_limit: 10, over_limit: 10, exact: false }
  expect(await page('/summary')).toMatchObject(counts)
  expect(await page('/export?format=json')).toHaveLength(COUNT)
})
