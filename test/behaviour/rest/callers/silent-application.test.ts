import { describe, expect, it, onTestFinished } from 'vitest'
import type { Host } from '../../../../src/index.ts'
import { basic } from '../../../support/rest-client.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { ADMIN_ROUTES, OWN_SESSION_ROUTES } from '../../../support/rest-routes.ts'
import { createRestUsers, restHostOf } from '../../../support/rest-users.ts'

describe('while nobody has said who the users are', () => {
  async function setUp(account = true) {
    const host = await startRestHost({ withoutHost: true, account })
    onTestFinished(() => host.close())
    return host
  }

  it('no route for administrators lets anybody in, and the log says once what to configure', async () => {
    const host = await setUp()
    const { password } = await host.limiter.passwords.create(1, 'script')
    const admin = await host.signIn('admin')
    const before = await host.snapshot()
    expect(host.logs).toEqual([])
    for (const { method, path, json } of ADMIN_ROUTES) {
      for (const headers of [{}, admin.headers, basic('admin', password)]) {
        const answer = await host.call(method, path, { headers, json })
        const seen = [answer.status, answer.json.code, answer.headers['cache-control']]
        expect(seen, `${method} ${path}`).toEqual([403, 'rest_forbidden', 'no-store'])
      }
    }
    expect(await host.snapshot()).toEqual(before)
    const cure = 'sessmgr({ host: { users: { findById, findByEmail, findByLogin, summary }, can } })'
    expect(host.logs).toEqual([[expect.stringContaining(cure)]])
  })

  it('rule 54: the routes for own sessions exist once limiter.account() has been called', async () => {
    const host = await setUp(false)
    const { headers } = await host.signIn('alice')
    const callAll = () =>
      Promise.all(OWN_SESSION_ROUTES.map(({ method, path, json }) => host.call(method, path, { headers, json })))
    const before = await callAll()
    expect(before.map(({ status }) => status)).toEqual([404, 404, 404, 404, 204])
    expect(before[0]?.json.code).toBe('rest_no_route')
    host.limiter.account()
    // There is no session with that token, and the application asks for no password.
    expect((await callAll()).map(({ status }) => status)).toEqual([200, 404, 200, 404, 204])
    for (const { method, path, json } of OWN_SESSION_ROUTES.filter(({ path }) => !path.endsWith('/notice'))) {
      const { status } = await host.call(method, path, { headers: { cookie: headers.cookie }, json })
      expect(status, `${path} without a nonce`).toBe(401)
    }
    expect(host.logs).toEqual([])
  })
})

it('an application that does not answer makes a call end with 503, and nothing changes', async () => {
  const deadlineMs = 100
  const given = restHostOf(createRestUsers())
  /** The function that never answers. */
  let hanging = ''
  const unless = <T>(name: string, now: () => T) => (hanging === name ? new Promise<never>(() => {}) : now())
  const users = {
    ...given.users,
    findById: (id: unknown) => unless('users.findById', () => given.users.findById(id)),
    findByEmail: (email: string) => unless('users.findByEmail', () => given.users.findByEmail(email)),
    findByLogin: (login: string) => unless('users.findByLogin', () => given.users.findByLogin(login)),
  }
  const can: Host['can'] = (user, capability) => unless('can', () => given.can(user as never, capability))
  const attempts = {
    allow: () => unless('attempts.allow', () => true),
    failed: () => unless('attempts.failed', () => {}),
  }
  const host = await startRestHost({ sessmgr: { deadlineMs }, host: { users, can, attempts } as Host })
  onTestFinished(() => host.close())
  const [{ headers: admin }, script] = [await host.signIn('admin'), await host.scriptOf('admin')]
  await host.signIn('alice')
  const before = await host.snapshot()
  for (const [about, name, headers, json] of [
    ['a caller with a cookie', 'users.findById', admin, { login: 'alice' }],
    ['the permission of a caller', 'can', admin, { login: 'alice' }],
    ['a caller with an application password', 'users.findByLogin', script, { id: 2 }],
    ['a wrong password', 'attempts.allow', basic('admin', 'wrong'), { id: 2 }],
    ['a password of nobody', 'attempts.failed', basic('nobody', 'wrong'), { id: 2 }],
    ['a user named by their id', 'users.findById', script, { id: 2 }],
    ['a user named by their login name', 'users.findByLogin', admin, { login: 'alice' }],
    ['a user named by their email address', 'users.findByEmail', admin, { email: 'alice@example.test' }],
  ] as const) {
    hanging = name
    const answer = await host.call('POST', '/sessmgr/v1/sessions/destroy', { headers, json })
    const seen = [answer.status, answer.headers['retry-after'], answer.json.code, answer.headers['set-cookie']]
    expect(seen, about).toEqual([503, '2', 'store_unavailable', undefined])
    expect(answer.json.message).toContain(`${name}() did not respond within ${deadlineMs} ms. Try again shortly.`)
    expect(await host.snapshot(), about).toEqual(before)
  }
  // The right password asks no rate limiter.
  hanging = 'attempts.allow'
  expect((await host.call('GET', '/sessmgr/v1/settings', { headers: script })).status).toBe(200)
})
