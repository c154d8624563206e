import { describe, expect, it, onTestFinished } from 'vitest'
import type { Host } from '../../../../src/index.ts'
import { forThisFile } from '../../../support/for-this-file.ts'
import { basic } from '../../../support/rest-client.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { ADMIN_ROUTES, OWN_SESSION_ROUTES } from '../../../support/rest-routes.ts'
import { createRestUsers, restHostOf } from '../../../support/rest-users.ts'

const SETTINGS = '/sessmgr/v1/settings'
const DESTROY = '/sessmgr/v1/sessions/destroy'

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

describe('an application that does not answer', () => {
  const DEADLINE_MS = 100
  const given = restHostOf(createRestUsers())
  /** The function that never answers. */
  let hanging = ''
  const unless = <T>(name: string, now: () => T) => (hanging === name ? new Promise<never>(() => {}) : now())
  const host = forThisFile(() =>
    startRestHost({
      sessmgr: { deadlineMs: DEADLINE_MS },
      host: {
        users: {
          ...given.users,
          findById: (id) => unless('findById', () => given.users.findById(id)),
          findByEmail: (email) => unless('findByEmail', () => given.users.findByEmail(email)),
          findByLogin: (login) => unless('findByLogin', () => given.users.findByLogin(login)),
        },
        can: (user, capability) => unless('can', () => given.can(user as never, capability)),
        attempts: { allow: () => unless('allow', () => true), failed: () => unless('failed', () => {}) },
      } as Host,
    }),
  )
  const admin = forThisFile(() => host.signIn('admin'))
  const script = forThisFile(() => host.scriptOf('admin'))

  async function whileHanging<T>(name: string, work: () => Promise<T>): Promise<T> {
    hanging = name
    return work().finally(() => {
      hanging = ''
    })
  }

  const CALLS = [
    ['a caller with a cookie', 'findById', () => admin.headers, { id: 2 }],
    ['the permission of a caller', 'can', () => admin.headers, { id: 2 }],
    ['a caller with an application password', 'findByLogin', () => script, { id: 2 }],
    ['a user named by their id', 'findById', () => script, { id: 2 }],
    ['a user named by their login name', 'findByLogin', () => admin.headers, { login: 'alice' }],
    ['a user named by their email address', 'findByEmail', () => admin.headers, { email: 'alice@example.test' }],
  ] as const

  it('about a user makes a call end with 503, and nothing changes', async () => {
    await host.signIn('alice')
    for (const [about, name, headersOf, user] of CALLS) {
      const call = () => host.call('POST', DESTROY, { headers: headersOf(), json: user })
      const answer = await whileHanging(name, call)
      const seen = [answer.status, answer.headers['retry-after'], answer.json.code, answer.headers['set-cookie']]
      expect(seen, about).toEqual([503, '2', 'store_unavailable', undefined])
      expect(answer.json.message).toContain(`${name}() did not respond within ${DEADLINE_MS} ms. Try again shortly.`)
      expect(await host.limiter.sessions.count(2)).toBe(1)
    }
    expect((await host.call('GET', SETTINGS, { headers: admin.headers })).status).toBe(200)
  })

  it('by its attempts makes a wrong password end with 503; the right one works', async () => {
    const guess = (headers: object) => host.call('GET', SETTINGS, { headers: { ...headers } })
    for (const name of ['allow', 'failed']) {
      const [right, ...wrong] = await whileHanging(name, () =>
        Promise.all([script, basic('admin', 'wrong'), basic('nobody', 'wrong')].map(guess)),
      )
      expect(right?.status).toBe(200)
      for (const { status, headers, json } of wrong) {
        expect([status, headers['retry-after'], json.code], name).toEqual([503, '2', 'store_unavailable'])
        expect(json.message).toContain(`host.attempts.${name}() did not respond within ${DEADLINE_MS} ms.`)
      }
    }
    expect((await guess(basic('admin', 'wrong'))).status).toBe(401)
  })
})
