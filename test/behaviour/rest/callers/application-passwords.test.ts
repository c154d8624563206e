import { beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../../support/for-this-file.ts'
import { basic } from '../../../support/rest-client.ts'
import { type SignedIn, startRestHost } from '../../../support/rest-host.ts'

const PASSWORDS = '/sessmgr/v1/application-passwords'
const SETTINGS = '/sessmgr/v1/settings'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 1, logic: 'block' } } }))
let admin: SignedIn
beforeEach(async () => {
  for (const { id } of host.users) {
    await host.limiter.sessions.endAll(id)
    for (const password of await host.limiter.passwords.list(id)) await host.limiter.passwords.revoke(id, password.id)
  }
  admin = await host.signIn('admin')
})

const call = (method: string, path: string, json?: object, headers: object = admin.headers) =>
  host.call(method, path, { headers: { ...headers }, json })
const read = (headers: object) => call('GET', SETTINGS, undefined, headers)
const list = async (query = '') => (await call('GET', `${PASSWORDS}${query}`)).json.passwords

describe('an administrator', () => {
  it('creates a password, which is shown once, and works until it is revoked', async () => {
    const created = await call('POST', PASSWORDS, { name: ' backup ' })
    const { password, ...row } = created.json
    expect([created.status, row]).toEqual([
      200,
      { id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'backup', created: expect.any(Number), last_used: null },
    ])
    const listed = await call('GET', PASSWORDS)
    expect(listed.json).toEqual({ user: expect.objectContaining({ id: 1, login: 'admin' }), passwords: [row] })
    expect(listed.text).not.toContain(password)
    const tagged = { ...admin.headers, 'if-none-match': listed.headers.etag }
    expect((await call('GET', PASSWORDS, undefined, tagged)).status).toBe(304)

    const since = Math.floor(Date.now() / 1000)
    for (const name of ['ADMIN', 'Admin@Example.test']) expect((await read(basic(name, password))).status).toBe(200)
    expect((await call('GET', PASSWORDS, undefined, tagged)).status).toBe(200)
    const used = await list()
    expect(used[0].last_used).toBeGreaterThanOrEqual(since)
    expect((await read(basic('admin', 'wrong'.repeat(5)))).status).toBe(401)
    expect(await list()).toEqual(used)

    expect((await call('DELETE', `${PASSWORDS}/${row.id}`)).json.success).toBe(true)
    expect((await read(basic('admin', password))).status).toBe(401)
    expect(await list()).toEqual([])
    expect(JSON.stringify([host.logs, host.actions])).not.toContain(password)
  })

  it("lists and revokes other users' passwords, but creates none for them", async () => {
    const { id } = await host.limiter.passwords.create(2, 'hers')
    const hers = [expect.objectContaining({ id, name: 'hers' })]
    expect(await list('?user=alice')).toEqual(hers)
    await call('POST', PASSWORDS, { name: 'mine', user: 'alice', id: 2 })
    expect(await list('?user=alice')).toEqual(hers)
    expect(await list()).toMatchObject([{ name: 'mine' }])
    const own = await call('DELETE', `${PASSWORDS}/${id}`)
    expect([own.status, own.json.code]).toEqual([404, 'password_not_found'])
    expect((await call('DELETE', `${PASSWORDS}/${id}`, { user: 'alice' })).json.user.login).toBe('alice')
    expect(await list('?user=alice')).toEqual([])
  })

  it('is refused a bad name and a bad user', async () => {
    for (const [json, problem] of [
      [{ name: 'x'.repeat(101) }, 'must have 1 to 100 characters'],
      [{ name: 'a\u001b[31mb' }, 'must not contain control characters'],
      [{}, 'must be a string'],
    ] as const) {
      const answer = await call('POST', PASSWORDS, json)
      expect([answer.status, answer.json.data.params], JSON.stringify(json)).toEqual([400, { name: problem }])
    }
    expect((await call('POST', PASSWORDS, { name: 'x'.repeat(100) })).status).toBe(200)
    for (const [query, code] of [
      ['?user=nobody', 'user_not_found'],
      ['?user=', 'missing_identifier'],
      ['?user=alice&id=2', 'rest_invalid_param'],
    ] as const) {
      expect((await call('GET', PASSWORDS + query)).json.code, query).toBe(code)
    }
    expect((await call('DELETE', `${PASSWORDS}/x`, { user: '' })).json.code).toBe('missing_identifier')
  })
})

describe('rule 27: an application password', () => {
  it('makes no session, sets no cookie, is never counted, and opens nothing but the REST routes', async () => {
    await host.limiter.sessions.endAll(1)
    const headers = await host.scriptOf('admin')
    const before = host.sessionStore.everWritten.size
    for (let times = 0; times < 3; times++) {
      const answer = await read(headers)
      expect(answer.status).toBe(200)
      expect([answer.headers['set-cookie'], answer.headers['x-host-nonce']]).toEqual([undefined, undefined])
    }
    expect([host.sessionStore.everWritten.size, await host.limiter.sessions.count(1)]).toEqual([before, 0])
    expect((await host.send('GET', '/me', { headers })).text).toBe('nobody')
    expect((await host.send('GET', '/nonce', { headers })).text).toBe('')
    // One session is the most, in mode block: the calls have taken no slot.
    expect(await host.isSignedIn(await host.signIn('admin'))).toBe(true)
  })

  it('counts for nothing beside a session and a nonce, and is what counts where one of them is missing', async () => {
    const script = await host.scriptOf('admin')
    const { cookie, headers } = await host.signIn('alice')
    const gates = [basic('staging', 'gate'), await host.scriptOf('carol'), { authorization: 'Bearer canary' }]
    for (const gate of [...gates, { authorization: '' }]) {
      expect((await read({ ...admin.headers, ...gate })).status).toBe(200)
    }
    expect((await call('POST', PASSWORDS, { name: 'backup' }, { ...admin.headers, ...gates[0] })).status).toBe(200)
    expect((await read({ ...headers, ...script })).status).toBe(403)
    expect((await read({ cookie, 'x-host-nonce': 'wrong', ...script })).status).toBe(403)
    for (const rest of [{ cookie }, { 'x-host-nonce': 'wrong' }]) {
      expect((await read({ ...rest, ...script })).status).toBe(200)
    }
  })

  it('is refused with one answer, whether its user is unknown, has none, or it is any secret but the right one', async () => {
    const { id } = await host.limiter.passwords.create(1, 'script')
    const answers = new Set<string>()
    const guesses = ['nobody', 'nobody@example.test', 'bob', 'admin', '1'].map((name) => [name, 'A1b2 C3d4 E5f6'])
    const secrets = ['admin-password', id, admin.sessionId, admin.token, admin.nonce, ''].map((one) => ['admin', one])
    for (const [name = '', password = ''] of [...guesses, ...secrets]) {
      const { status, text, headers } = await read(basic(name, password))
      const { date: _date, ...rest } = headers
      answers.add(JSON.stringify([status, text, rest]))
    }
    expect([...answers]).toEqual([expect.stringMatching(/^\[401,.*no-store/)])
  })
})
