import { beforeEach, describe, expect, it } from 'vitest'
import type { Host } from '../../../../src/index.ts'
import { forThisFile } from '../../../support/for-this-file.ts'
import { registerSession } from '../../../support/register-session.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { createRestUsers, type RestUser, restHostOf } from '../../../support/rest-users.ts'

const everyone = createRestUsers()
const asked: [text: string, limit: number][] = []
let search: (text: string) => unknown
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
const find = async (q: string) =>
  (await host.call('GET', `/sessmgr/v1/people/search?q=${encodeURIComponent(q)}`, { headers })).json
const loginsOf = ({ people }: { people: readonly { user: { login: string } }[] }) =>
  people.map(({ user }) => user.login)
beforeEach(() => {
  search = (text) => everyone.filter(({ login }) => login.includes(text))
})

describe('GET /people/search', () => {
  it('finds users by a part of their name, with their sessions and their page, and nothing else of them', async () => {
    for (let count = 0; count < 2; count++) await host.signIn('carol')
    const user = { id: 4, login: 'carol', display_name: 'CAROL', email: 'carol@example.test', url: '/users/carol' }
    expect(await find(' ro ')).toEqual({ searchable: true, people: [{ user, live: 2 }] })
    expect(asked).toEqual([['ro', 8]])
    search = () => []
    expect(await find('nobody')).toEqual({ searchable: true, people: [] })
    search = () => [0, 10].flatMap((more) => everyone.map((one) => ({ ...one, id: one.id + more })))
    expect((await find('any')).people).toHaveLength(8)
  })

  it('finds who is named exactly before those with a similar name, only once, and also if the search fails', async () => {
    search = () => everyone.slice(0, 3)
    expect(loginsOf(await find('carol'))[0]).toBe('carol')
    expect(loginsOf(await find('bob'))).toEqual(['bob', 'admin', 'alice'])
    for (const broken of [
      () => Promise.reject(new Error('no database')),
      () => ({ rows: [] }),
      () => [{ id: 2 }, null],
    ]) {
      search = broken
      expect(loginsOf(await find('alice@example.test')), String(broken)).toEqual(['alice'])
      expect(loginsOf(await find('alic')), String(broken)).toEqual([])
    }
  })

  it('finds who is signed in from an address', async () => {
    for (const id of [2, 3, 3]) {
      await registerSession(host, id, { ip: id === 2 ? '203.0.113.7' : '2001:db8::1' })
      await host.registry.people.note([{ userId: id, at: Date.now(), live: 1 }])
    }
    const people = [{ user: expect.objectContaining({ login: 'alice' }), live: 1 }]
    const { address } = await find('203.0.113.7')
    expect(address).toEqual({ ip: '203.0.113.7', place: null, people, exact: true })
    expect(loginsOf((await find('2001:db8::1')).address)).toEqual(['bob'])
    expect((await find('203.0.113.8')).address.people).toEqual([])
    expect(await find('203.0.113')).not.toHaveProperty('address')
  })

  it('leaves out the page of a user that is no address of one', async () => {
    for (const odd of ['javascript:alert(1)', '//evil.test', 7, '']) {
      url = () => odd
      expect((await find('admin')).people[0].user, String(odd)).not.toHaveProperty('url')
    }
    url = ({ login }) => `https://site.test/${login}`
    expect((await find('admin')).people[0].user.url).toBe('https://site.test/admin')
  })
})
