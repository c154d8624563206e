import { beforeEach, describe, expect, it } from 'vitest'
import type { Host } from '../../../src/index.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { registerSession } from '../../support/register-session.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { createRestUsers, type RestUser, restHostOf } from '../../support/rest-users.ts'

const everyone = createRestUsers()
const plain = forThisFile(() => startRestHost())
const asked: [text: string, limit: number][] = []
let search: (text: string) => unknown = (text) => everyone.filter(({ login }) => login.includes(text))
let url: (user: RestUser) => unknown = ({ login }) => `/users/${login}`
const users: Host<RestUser>['users'] = {
  ...restHostOf(everyone).users,
  summary: ({ id, login }) =>
    ({ id, login, display_name: login.toUpperCase(), email: `${login}@example.test`, hash: 'secret' }) as never,
  search(text, limit) {
    asked.push([text, limit])
    return search(text) as RestUser[]
  },
  url: (user) => url(user) as string,
}
const host = forThisFile(() => startRestHost({ host: { users } as Partial<Host> }))
const headers = forThisFile(() => host.scriptOf('admin'))
const scripts = { plain: forThisFile(() => plain.scriptOf('admin')), host: headers }
const find = async (q: string, where: 'plain' | 'host' = 'host') =>
  (
    await { plain, host }[where].call('GET', `/sessmgr/v1/people/search?q=${encodeURIComponent(q)}`, {
      headers: scripts[where],
    })
  ).json
const loginsOf = ({ people }: { people: readonly { user: { login: string } }[] }) =>
  people.map(({ user }) => user.login)

beforeEach(async () => {
  for (const { id } of host.users) await host.limiter.sessions.endAll(id)
  asked.length = 0
  host.logs.length = 0
})

describe('GET /people/search', () => {
  it('finds users by a part of their name, with their sessions and their page, and nothing else of them', async () => {
    await host.signIn('carol')
    await host.signIn('carol')
    const person = (id: number, login: string) => ({
      id,
      login,
      display_name: login.toUpperCase(),
      email: `${login}@example.test`,
      url: `/users/${login}`,
    })
    expect(await find(' a ')).toMatchObject({ code: 'rest_invalid_param' })
    expect(await find(' ro ')).toEqual({ searchable: true, people: [{ user: person(4, 'carol'), live: 2 }] })
    expect(asked).toEqual([['ro', 8]])
  })

  it('shows eight at most, even if the application returns more', async () => {
    search = () => [0, 10].flatMap((more) => everyone.map((user) => ({ ...user, id: user.id + more })))
    expect((await find('any')).people).toHaveLength(8)
  })

  it('finds nobody if there is nobody', async () => {
    search = () => []
    expect(await find('nobody')).toEqual({ searchable: true, people: [] })
  })

  it('finds who is named exactly before those with a similar name, and only once', async () => {
    search = () => everyone.slice(0, 3)
    const [, second, third, fourth] = everyone
    expect(loginsOf(await find(String(fourth?.login)))[0]).toBe(fourth?.login)
    expect(loginsOf(await find(String(third?.login)))).toEqual([third, everyone[0], second].map((user) => user?.login))
    search = () => []
    expect(loginsOf(await find('alice@example.test'))).toEqual(['alice'])
  })

  it.each([
    ['throws', () => Promise.reject(new Error('no database'))],
    ['returns no array', () => ({ rows: [] })],
    ['returns what are no users', () => [{ id: 2 }, null]],
  ])('finds exact names if the search %s', async (_, broken) => {
    search = broken
    expect(loginsOf(await find('alice'))).toEqual(['alice'])
    expect(loginsOf(await find('alic'))).toEqual([])
  })

  it('finds exact names, ids and addresses if the application cannot search', async () => {
    for (const q of ['alice', 'ALICE', 'alice@example.test']) {
      expect(await find(q, 'plain')).toEqual({
        searchable: false,
        people: [{ user: { id: 2, login: 'alice', display_name: 'ALICE' }, live: 0 }],
      })
    }
    expect(await find('alic', 'plain')).toEqual({ searchable: false, people: [] })
  })

  it('finds who is signed in from an address', async () => {
    for (const id of [2, 3, 3]) {
      await registerSession(host, id, { ip: id === 2 ? '203.0.113.7' : '2001:db8::1' })
      await host.registry.people.note([{ userId: id, at: Date.now(), live: 1 }])
    }
    search = () => []
    const { address } = await find('203.0.113.7')
    expect(address).toEqual({
      ip: '203.0.113.7',
      place: null,
      people: [{ user: expect.objectContaining({ login: 'alice' }), live: 1 }],
      exact: true,
    })
    expect(loginsOf((await find('2001:db8::1')).address)).toEqual(['bob'])
    expect((await find('203.0.113.8')).address.people).toEqual([])
    expect(await find('203.0.113')).not.toHaveProperty('address')
  })
})

it.each(['javascript:alert(1)', '//evil.test', 7, ''])('the page of a user is left out if it is %j', async (odd) => {
  url = () => odd
  search = () => everyone.slice(0, 1)
  expect((await find('admin')).people[0].user).not.toHaveProperty('url')
  url = ({ login }) => `https://site.test/${login}`
  expect((await find('admin')).people[0].user.url).toBe('https://site.test/admin')
})
