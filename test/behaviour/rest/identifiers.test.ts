import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RestHost, startRestHost } from '../../support/rest-host.ts'

const LIST = '/sessmgr/v1/sessions'
const DESTROY = '/sessmgr/v1/sessions/destroy'

let host: RestHost
let headers: { authorization: string }
beforeEach(async () => {
  host = await startRestHost()
  headers = await host.scriptOf('admin')
  // A user whose id is text, and one who has registered that id as a login name.
  const users = host.users as { id: unknown; login: string; role: string }[]
  users.push({ id: 'ab12', login: 'victim', role: 'subscriber' }, { id: 9, login: 'ab12', role: 'subscriber' })
  const { findById } = host.limiter.host?.users ?? {}
  Object.assign(host.limiter.host?.users ?? {}, {
    findById: (id: unknown) => users.find((user) => user.id === id) ?? findById?.(id),
  })
})
afterEach(() => host.close())

const list = (query: string) => host.call('GET', `${LIST}?${query}`, { headers })
const destroy = (json: object) => host.call('POST', DESTROY, { headers, json })

describe('rule 49: the user of a call', () => {
  it('is ambiguous when a login name is the id of another: 409, and nothing ends', async () => {
    await host.signIn('victim')
    await host.signIn('ab12')
    const before = await host.snapshot()
    for (const answer of [await list('user=ab12'), await destroy({ user: 'ab12' })]) {
      expect([answer.status, answer.json.code]).toEqual([409, 'ambiguous_identifier'])
    }
    expect(await host.snapshot()).toEqual(before)
    expect(await host.limiter.sessions.count('ab12')).toBe(1)
  })

  it.each([
    ['id', 'ab12', 'victim'],
    ['id', '2', 'alice'],
    ['login', 'ab12', 'ab12'],
    ['login', '777', '777'],
    ['email', 'alice@example.test', 'alice'],
    ['user', '2', 'alice'],
  ])('is named by %s=%s', async (field, value, login) => {
    expect((await list(`${field}=${value}`)).json.user.login).toBe(login)
    expect((await destroy({ [field]: value })).json).toMatchObject({ success: true, user: { login } })
  })

  it('may be named by a number in the field id', async () => {
    expect((await destroy({ id: 2 })).json).toMatchObject({ success: true, user: { id: 2 } })
    expect((await destroy({ user: 2 })).json.code).toBe('rest_invalid_param')
  })

  it.each(['id=alice', 'login=2', 'email=alice', 'id=99', 'login=nobody'])('is unknown by %s', async (query) => {
    expect((await list(query)).json.code).toBe('user_not_found')
  })

  it('must be named, and once', async () => {
    for (const json of [{}, { user: ' ' }, { id: null, login: '' }]) {
      expect((await destroy(json)).json.code).toBe('missing_identifier')
    }
    const answer = await destroy({ user: 'alice', id: 3 })
    expect([answer.status, answer.json.data.params]).toEqual([400, { id: 'cannot be combined with user' }])
    expect((await list('id=2&id=3')).json.code).toBe('rest_invalid_param')
  })
})
