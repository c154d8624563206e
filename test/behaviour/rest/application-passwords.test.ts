import { beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { basic } from '../../support/rest-client.ts'
import { type SignedIn, startRestHost } from '../../support/rest-host.ts'

const PASSWORDS = '/sessmgr/v1/application-passwords'
const SETTINGS = '/sessmgr/v1/settings'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 5000 } } }))
let admin: SignedIn
beforeEach(async () => {
  for (const { id } of host.users) {
    for (const password of await host.limiter.passwords.list(id)) await host.limiter.passwords.revoke(id, password.id)
  }
  admin = await host.signIn('admin')
})

const call = (method: string, path: string, json?: object, headers: object = admin.headers) =>
  host.call(method, path, { headers: { ...headers }, json })

describe('an administrator', () => {
  it('creates a password, which is shown once, and works until it is revoked', async () => {
    const created = await call('POST', PASSWORDS, { name: ' backup ' })
    expect([created.status, created.headers['cache-control']]).toEqual([200, 'no-store'])
    const { password, ...row } = created.json
    expect(row).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'backup',
      created: expect.any(Number),
      last_used: null,
    })
    const listed = await call('GET', PASSWORDS)
    expect(listed.json).toEqual({ user: expect.objectContaining({ id: 1, login: 'admin' }), passwords: [row] })
    expect(listed.text).not.toContain(password)

    const script = basic('admin', password)
    expect((await call('GET', SETTINGS, undefined, script)).status).toBe(200)
    expect((await call('DELETE', `${PASSWORDS}/${row.id}`)).json.success).toBe(true)
    expect((await call('GET', SETTINGS, undefined, script)).status).toBe(401)
    expect((await call('GET', PASSWORDS)).json.passwords).toEqual([])
    expect(JSON.stringify([host.logs, host.actions])).not.toContain(password)
  })

  it('sees when a password was last used', async () => {
    const { json } = await call('POST', PASSWORDS, { name: 'backup' })
    const since = Math.floor(Date.now() / 1000)
    await call('GET', SETTINGS, undefined, basic('admin', json.password))
    const [row] = (await call('GET', PASSWORDS)).json.passwords
    expect(row.last_used).toBeGreaterThanOrEqual(since)
    await call('GET', SETTINGS, undefined, basic('admin', 'wrong'.repeat(5)))
    expect((await call('GET', PASSWORDS)).json.passwords).toEqual([row])
  })

  it("lists and revokes other users' passwords, but creates none for them", async () => {
    const { password: _password, id } = await host.limiter.passwords.create(host.user('alice').id, 'hers')
    const [row] = (await call('GET', `${PASSWORDS}?user=alice`)).json.passwords
    expect(row).toMatchObject({ id, name: 'hers' })
    await call('POST', PASSWORDS, { name: 'mine', user: 'alice', id: host.user('alice').id })
    expect((await call('GET', `${PASSWORDS}?user=alice`)).json.passwords).toEqual([row])
    expect((await call('GET', PASSWORDS)).json.passwords).toMatchObject([{ name: 'mine' }])

    const own = await call('DELETE', `${PASSWORDS}/${id}`)
    expect([own.status, own.json.code]).toEqual([404, 'password_not_found'])
    expect((await call('DELETE', `${PASSWORDS}/${id}`, { user: 'alice' })).json.user.login).toBe('alice')
    expect(await host.limiter.passwords.list(host.user('alice').id)).toEqual([])
  })

  it('is told that an unchanged list is unchanged', async () => {
    const { headers } = await call('GET', PASSWORDS)
    const again = { ...admin.headers, 'if-none-match': headers.etag }
    expect((await call('GET', PASSWORDS, undefined, again)).status).toBe(304)
    await call('POST', PASSWORDS, { name: 'backup' })
    expect((await call('GET', PASSWORDS, undefined, again)).status).toBe(200)
  })

  it.each([
    [{ name: '' }, 'must have 1 to 100 characters'],
    [{ name: ' ' }, 'must have 1 to 100 characters'],
    [{ name: 'x'.repeat(101) }, 'must have 1 to 100 characters'],
    [{ name: 'a\u001b[31mb' }, 'must not contain control characters'],
    [{ name: 1 }, 'must be a string'],
    [{}, 'must be a string'],
  ])('cannot name a password %j', async (body, problem) => {
    const { status, json } = await call('POST', PASSWORDS, body)
    expect([status, json.data.params]).toEqual([400, { name: problem }])
    expect((await call('GET', PASSWORDS)).json.passwords).toEqual([])
  })

  it.each([
    ['GET', `${PASSWORDS}?user=nobody`, undefined, 404, 'user_not_found'],
    ['GET', `${PASSWORDS}?user=`, undefined, 400, 'missing_identifier'],
    ['GET', `${PASSWORDS}?user=alice&id=2`, undefined, 400, 'rest_invalid_param'],
    ['DELETE', `${PASSWORDS}/x`, { user: '' }, 400, 'missing_identifier'],
    ['DELETE', `${PASSWORDS}/x`, { user: 'alice' }, 404, 'password_not_found'],
  ] as const)('is refused %s %s with %j', async (method, path, json, status, code) => {
    const answer = await call(method, path, json)
    expect([answer.status, answer.json.code]).toEqual([status, code])
  })
})

describe('an application password', () => {
  it('creates no other, so that a stolen one cannot outlive its revocation', async () => {
    const { password } = await host.limiter.passwords.create(1, 'stolen')
    const answer = await call('POST', PASSWORDS, { name: 'another' }, basic('admin', password))
    expect([answer.status, answer.json.code]).toEqual([401, 'rest_forbidden'])
    expect(await host.limiter.passwords.list(1)).toMatchObject([{ name: 'stolen' }])
  })

  it('does not get in the way of a session, if a browser sends both', async () => {
    const headers = { ...admin.headers, ...basic('proxy', 'of the staging site') }
    expect((await call('POST', PASSWORDS, { name: 'backup' }, headers)).status).toBe(200)
  })
})
