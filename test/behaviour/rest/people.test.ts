import { beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { registerSession } from '../../support/register-session.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { AGENTS } from '../../support/user-agents.ts'

const DAY_MS = 24 * 60 * 60_000
const host = forThisFile(() => startRestHost({ host: { location: (ip) => (ip === '127.0.0.1' ? 'Here' : undefined) } }))
const headers = forThisFile(() => host.scriptOf('admin'))
const get = (path: string, more: object = {}) =>
  host.call('GET', `/sessmgr/v1/people${path}`, { headers: { ...headers, ...more } })
const list = async (query = '') => (await get(query)).json
const loginsOf = ({ people }: { people: readonly { user: { login: string } }[] }) =>
  people.map(({ user }) => user.login)

beforeEach(async () => {
  for (const { id } of host.users) await host.limiter.sessions.endAll(id)
  await host.limiter.settings.reset()
  host.logs.length = 0
})

describe('GET /people', () => {
  it('lists who is signed in, the last login first', async () => {
    const from = Math.floor(Date.now() / 1000)
    await host.signIn('bob', AGENTS.windows)
    for (const agent of [AGENTS.linux, AGENTS.iphone, 'curl/8.1']) await host.signIn('alice', agent)
    const answer = await list()
    expect(answer).toEqual({
      people: [
        {
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
        },
        expect.objectContaining({ user: { id: 3, login: 'bob', display_name: 'BOB' }, live: 1 }),
      ],
      exact: true,
    })
    for (const { last_seen, signed_in } of answer.people) {
      for (const time of [last_seen, signed_in]) expect(Number.isInteger(time) && time >= from).toBe(true)
    }
  })

  it('lists those with the most sessions first if asked', async () => {
    for (const login of ['alice', 'alice', 'bob', 'bob', 'bob', 'carol']) await host.signIn(login)
    expect(loginsOf(await list('?sort=most'))).toEqual(['bob', 'alice', 'carol'])
    expect(loginsOf(await list('?sort=recent'))).toEqual(['carol', 'bob', 'alice'])
  })

  it('lists those at and over their own limit', async () => {
    for (const login of ['alice', 'alice', 'bob', 'bob', 'bob', 'carol']) await host.signIn(login)
    await host.limiter.settings.update({ maximum: 2 })
    for (const sort of ['recent', 'most']) {
      expect(loginsOf(await list(`?show=at_limit&sort=${sort}`))).toEqual(['bob', 'alice'])
      expect(loginsOf(await list(`?show=over_limit&sort=${sort}`))).toEqual(['bob'])
    }
    expect((await list('?show=over_limit')).people[0]).toMatchObject({ live: 3, maximum: 2, over: true })
    host.limiter.hooks.addFilter('sessmgr_maximum', 'test', (maximum, userId) => (userId === 4 ? 1 : maximum))
    host.limiter.hooks.addFilter('sessmgr_bypass', 'test', (_, userId) => userId === 3)
    try {
      for (const sort of ['recent', 'most']) {
        expect(loginsOf(await list(`?show=at_limit&sort=${sort}`)).toSorted()).toEqual(['alice', 'carol'])
        expect(loginsOf(await list(`?show=over_limit&sort=${sort}`))).toEqual([])
      }
      expect((await list('?sort=most')).people[0]).toMatchObject({ live: 3, maximum: null, over: false })
    } finally {
      host.limiter.hooks.removeFilter('sessmgr_maximum', 'test')
      host.limiter.hooks.removeFilter('sessmgr_bypass', 'test')
    }
  })

  it('lists those over a maximum that is not enforced, with that maximum, and those over another one', async () => {
    for (const login of ['alice', 'alice', 'bob', 'bob', 'bob', 'carol']) await host.signIn(login)
    await host.limiter.settings.update({ maximum: 2, enforce: false })
    const { people } = await list('?show=over_limit')
    expect(people).toEqual([expect.objectContaining({ live: 3, maximum: null, maximum_if_enforced: 2, over: false })])
    for (const sort of ['recent', 'most']) {
      expect(loginsOf(await list(`?show=over_limit&than=1&sort=${sort}`))).toEqual(['bob', 'alice'])
    }
    expect((await get('?than=0')).status).toBe(400)
  })

  it('lists those with the most places, and those who used several of them at once', async () => {
    const uses = [
      [3, 1],
      [2, 1],
      [2, 2],
      [2, 3],
      [3, 2],
      [4, 1],
      [4, 1],
      [4, 1],
      [4, 1],
    ] as const
    const { now } = Date
    try {
      for (const [index, [id, place]] of uses.entries()) {
        if (index === 1) Date.now = () => now() + 3 * DAY_MS
        await registerSession(host, id, { ip: `203.0.113.${place}`, ttlMs: 9 * DAY_MS })
      }
      // What ended before is noted first.
      await list()
      await host.registry.people.note(
        [2, 3, 4].map((userId) => ({ userId, at: Date.now(), live: userId === 4 ? 4 : 3 })),
      )
      const byPlaces = await list('?sort=places')
      expect(byPlaces.people.map(({ places }: { places: number }) => places)).toEqual([3, 2, 1])
      expect(loginsOf(byPlaces)).toEqual(['alice', 'bob', 'carol'])
      for (const sort of ['recent', 'most', 'places']) {
        expect(loginsOf(await list(`?show=places&sort=${sort}`))).toEqual(['alice'])
      }
      const first = await list('?sort=places&limit=1')
      expect([loginsOf(first), first.exact]).toEqual([['alice'], true])
      expect(loginsOf(await list(`?sort=places&limit=1&cursor=${first.next}`))).toEqual(['bob'])
      expect((await get('?sort=places&cursor=x')).status).toBe(400)
      for (const id of [2, 3, 4]) await host.limiter.sessions.endAll(id)
      await list()
    } finally {
      Date.now = now
    }
  })

  it('lists people whose maximum cannot be found out, without it', async () => {
    await host.signIn('alice')
    host.limiter.hooks.addFilter('sessmgr_maximum', 'test', () => Promise.reject(new Error('no database')))
    try {
      const [row] = (await list()).people
      expect(row).toMatchObject({ live: 1, over: false })
      expect(row).not.toHaveProperty('maximum')
    } finally {
      host.limiter.hooks.removeFilter('sessmgr_maximum', 'test')
    }
  })

  it('lists those with a program among their devices', async () => {
    await host.signIn('admin', AGENTS.windows)
    for (const agent of [AGENTS.linux, 'curl/8.1']) await host.signIn('alice', agent)
    expect(loginsOf(await list('?show=programs'))).toEqual(['alice'])
  })

  it('lists those who have not used any session for 30 days', async () => {
    const ttlMs = 60 * DAY_MS
    for (const id of [3, 3, 4]) await registerSession(host, id, { ttlMs })
    await host.registry.people.note([3, 4].map((userId) => ({ userId, at: Date.now(), live: 2 })))
    expect(loginsOf(await list('?show=idle'))).toEqual([])
    const { now } = Date
    Date.now = () => now() + 31 * DAY_MS
    try {
      await registerSession(host, 4, { ttlMs })
      expect(loginsOf(await list('?show=idle'))).toEqual(['bob'])
    } finally {
      Date.now = now
    }
  })

  it('leaves out who is in the index but not signed in, corrects the numbers and tidies the index', async () => {
    await host.signIn('alice')
    const at = Date.now()
    await host.registry.people.note([
      { userId: 3, at, live: 4 },
      { userId: 2, at: at + 60_000, live: 9 },
    ])
    expect((await list('?sort=most')).people).toEqual([expect.objectContaining({ live: 1 })])
    expect((await get('/summary')).json).toMatchObject({ people: 1, sessions: 1 })
  })

  it('names a deleted user by the id', async () => {
    await registerSession(host, 99)
    await host.registry.people.note([{ userId: 99, at: Date.now(), live: 1 }])
    expect((await list()).people).toEqual([
      expect.objectContaining({ user: { id: 99, login: '99', display_name: '' }, live: 1 }),
    ])
    await host.limiter.sessions.endAll(99)
  })

  it('answers 304 while nothing has changed', async () => {
    await host.signIn('alice')
    for (const path of ['', '/summary']) {
      const { headers } = await get(path)
      const tag = { 'if-none-match': headers.etag }
      expect((await get(path, tag)).status, path).toBe(304)
      await host.signIn('alice')
      expect((await get(path, tag)).status, path).toBe(200)
    }
  })
})

describe('GET /people/summary', () => {
  it('counts people, sessions, those at and over the limit, and refused logins', async () => {
    for (const login of ['alice', 'alice', 'bob', 'bob', 'bob', 'carol']) await host.signIn(login)
    await host.limiter.settings.update({ maximum: 2, logic: 'block' })
    const before = (await get('/summary')).json
    expect(before).toEqual({
      people: 3,
      sessions: 6,
      used_15m: 3,
      at_limit: 2,
      over_limit: 1,
      enforced: true,
      refused_24h: expect.any(Number),
      exact: true,
      limits_exact: true,
      used_exact: true,
    })
    expect((await host.send('POST', '/login/alice', {})).status).not.toBe(200)
    expect((await get('/summary')).json).toEqual({ ...before, refused_24h: before.refused_24h + 1 })
    await host.limiter.settings.update({ enforce: false })
    expect((await get('/summary')).json).toMatchObject({ people: 3, at_limit: 2, over_limit: 1, enforced: false })
  })

  it('counts who has used a session in the last 15 minutes', async () => {
    for (const login of ['alice', 'bob']) await host.signIn(login)
    const { now } = Date
    Date.now = () => now() + 16 * 60_000
    try {
      await host.signIn('carol')
      expect((await get('/summary')).json).toMatchObject({ people: 3, used_15m: 1, used_exact: true })
    } finally {
      Date.now = now
    }
  })

  it('is exact about limits of their own, but not if one cannot be found out', async () => {
    for (const login of ['alice', 'alice', 'bob']) await host.signIn(login)
    host.limiter.hooks.addFilter('sessmgr_maximum', 'test', (maximum, userId) => (userId === 2 ? 1 : maximum))
    expect((await get('/summary')).json).toMatchObject({ at_limit: 1, over_limit: 1, limits_exact: true })
    host.limiter.hooks.addFilter('sessmgr_maximum', 'test', () => Promise.reject(new Error('no database')))
    expect((await get('/summary')).json).toMatchObject({ exact: true, limits_exact: false })
    host.limiter.hooks.removeFilter('sessmgr_maximum', 'test')
    expect((await get('/summary')).json).toMatchObject({ exact: true, limits_exact: true })
  })
})

describe('GET /people/over', () => {
  it('counts the people with more sessions than a maximum', async () => {
    for (const login of ['alice', 'alice', 'bob', 'bob', 'bob', 'carol']) await host.signIn(login)
    for (const [maximum, people] of [
      [1, 2],
      [2, 1],
      [3, 0],
    ]) {
      expect((await get(`/over?maximum=${maximum}`)).json).toEqual({ people, exact: true })
    }
  })
})

it.each([
  '?show=some',
  '?sort=name',
  '?limit=0',
  '?limit=101',
  '?limit=x',
  '?cursor=',
  '?cursor=x',
  '?cursor=1.%2e%2e%2f',
  '?show=all&show=idle',
  '/over',
  '/over?maximum=0',
  '/over?maximum=x',
  '/search',
  '/search?q=a',
  '/search?q=%20%20a%20',
  `/search?q=${'a'.repeat(201)}`,
  '/export?format=xml',
  '/export?show=none',
])('GET /people%s is refused', async (query) => {
  const { status, json } = await get(query)
  expect([status, json.code]).toEqual([400, 'rest_invalid_param'])
  expect(Object.keys(json.data.params)).toHaveLength(1)
})
