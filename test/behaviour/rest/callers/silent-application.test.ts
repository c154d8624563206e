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
        expect([answer.status, answer.json, answer.headers['cache-control']], `${method} ${path}`).toEqual([
          403,
          { code: 'rest_forbidden', message: expect.any(String), data: { status: 403 } },
          'no-store',
        ])
      }
    }
    expect(await host.snapshot()).toEqual(before)
    const cure = 'sessmgr({ host: { users: { findById, findByEmail, findByLogin, summary }, can } })'
    expect(host.logs).toEqual([[expect.stringContaining(cure)]])
  })

  it('users list and end their own sessions, guests have none, and the limit and the application go on', async () => {
    const host = await setUp()
    const [here, there] = [await host.signIn('alice', 'Laptop/1'), await host.signIn('alice', 'Phone/2')]
    const call = (method: string, path: string, headers: object, json?: object) =>
      host.call(method, `/sessmgr/v1/me/${path}`, { headers: { ...headers }, json })
    const list = await call('GET', 'sessions', here.headers)
    expect(list.json).toMatchObject({ count: 2, maximum: 5, step_up: 'none' })
    expect(list.json.sessions.map(({ token }: { token: string }) => token).toSorted()).toEqual(
      [here.token, there.token].toSorted(),
    )
    const end = () => call('POST', 'sessions/end', here.headers, { token: there.token })
    expect([(await end()).json, (await end()).status]).toEqual([{ ended: true }, 404])
    const others = await call('POST', 'sessions/end-others', here.headers, {})
    expect([others.status, others.json]).toEqual([200, { ended: 0 }])
    expect([await host.isSignedIn(here), await host.isSignedIn(there)]).toEqual([true, false])

    for (const headers of [{}, { cookie: here.cookie }]) {
      for (const [method, path, json] of [
        ['GET', 'sessions', undefined],
        ['POST', 'sessions/end', { token: here.token }],
        ['POST', 'sessions/end-others', {}],
      ] as const) {
        expect((await call(method, path, headers, json)).status, path).toBe(401)
      }
    }
    expect((await call('GET', 'notice', {})).status).toBe(204)
    expect((await host.call('GET', '/hello')).text).toBe('a route of the application')
    expect(await host.limiter.sessions.count(2)).toBe(1)
    expect(host.logs).toEqual([])
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

  it.each([
    ['a caller with a cookie', 'findById', () => admin.headers, { id: 2 }],
    ['the permission of a caller', 'can', () => admin.headers, { id: 2 }],
    ['a caller with an application password', 'findByLogin', () => script, { id: 2 }],
    ['a user named by their id', 'findById', () => script, { id: 2 }],
    ['a user named by their login name', 'findByLogin', () => admin.headers, { login: 'alice' }],
    ['a user named by their email address', 'findByEmail', () => admin.headers, { email: 'alice@example.test' }],
  ])('about %s makes a call end with 503, and nothing changes', async (_, name, headersOf, user) => {
    await host.signIn('alice')
    const headers = { ...headersOf() }
    const query = new URLSearchParams(user as object as Record<string, string>)
    const answers = await whileHanging(name, () =>
      Promise.all([
        host.call('POST', DESTROY, { headers, json: user }),
        host.call('GET', `/sessmgr/v1/sessions?${query}`, { headers }),
      ]),
    )
    for (const answer of answers) {
      expect([answer.status, answer.headers['retry-after'], answer.json.code]).toEqual([503, '2', 'store_unavailable'])
      expect(answer.json.message).toContain(`${name}() did not respond within ${DEADLINE_MS} ms. Try again shortly.`)
      expect(answer.headers['set-cookie']).toBeUndefined()
    }
    expect(await host.limiter.sessions.count(2)).toBeGreaterThan(0)
    expect((await host.call('GET', SETTINGS, { headers })).status).toBe(200)
  })

  it.each(['allow', 'failed'])(
    'by attempts.%s makes a wrong password end with 503; the right one works',
    async (name) => {
      const before = await host.snapshot()
      const guess = (headers: object) => host.call('GET', SETTINGS, { headers: { ...headers } })
      const [right, ...wrong] = await whileHanging(name, () =>
        Promise.all([script, basic('admin', 'wrong'), basic('nobody', 'wrong')].map(guess)),
      )
      expect(right?.status).toBe(200)
      for (const { status, headers, json } of wrong) {
        expect([status, headers['retry-after'], json.code]).toEqual([503, '2', 'store_unavailable'])
        expect(json.message).toContain(`host.attempts.${name}() did not respond within ${DEADLINE_MS} ms.`)
      }
      expect(await host.snapshot()).toEqual(before)
      expect((await guess(basic('admin', 'wrong'))).status).toBe(401)
    },
  )
})
