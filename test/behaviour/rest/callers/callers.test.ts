import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { helpAt } from '../../../../src/ground/help.ts'
import { type Host, SessmgrError } from '../../../../src/index.ts'
import { forThisFile } from '../../../support/for-this-file.ts'
import { basic, type RestAnswer } from '../../../support/rest-client.ts'
import { type SignedIn, startRestHost } from '../../../support/rest-host.ts'
import { ADMIN_ROUTES, OWN_SESSION_ROUTES } from '../../../support/rest-routes.ts'
import { createRestUsers, restHostOf } from '../../../support/rest-users.ts'

const SETTINGS = '/sessmgr/v1/settings'
const DESTROY = '/sessmgr/v1/sessions/destroy'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 50 } } }))
let admin: SignedIn
beforeEach(async () => {
  await host.limiter.sessions.endAll(1)
  admin = await host.signIn('admin')
})

const get = (headers: object = {}) => host.call('GET', SETTINGS, { headers: { ...headers } })
const seen = ({ status, json }: RestAnswer) => [status, json.code]

// Which caller may call which route is asked of every route in every-route.test.ts.
it('an administrator who is one no longer or is gone is refused from the next call on', async () => {
  const carried = [(await host.signIn('dora')).headers, await host.scriptOf('dora')]
  const users = host.limiter.host?.users ?? {}
  const [found, dora] = [{ ...users }, { ...host.user('dora') }]
  const gone = (nobody: undefined | null) => () => {
    const nowhere = async () => nobody
    Object.assign(users, { findById: nowhere, findByLogin: nowhere, findByEmail: nowhere })
  }
  const changes: [what: string, change: () => void, status: number][] = [
    ['a subscriber', () => Object.assign(host.user('dora'), { role: 'subscriber' }), 403],
    ['undefined', gone(undefined), 401],
    ['null', gone(null), 401],
  ]
  for (const [what, change, status] of changes) {
    change()
    for (const headers of carried) expect(seen(await get(headers)), what).toEqual([status, 'rest_forbidden'])
    Object.assign(users, found)
    Object.assign(host.user('dora'), dora)
    for (const headers of carried) expect((await get(headers)).status).toBe(200)
  }
})

describe('rule 19: the order of checks', () => {
  it('is nonce, capability, parameters', async () => {
    const alice = await host.signIn('alice')
    const call = (headers: object) =>
      host.call('POST', SETTINGS, { headers: { ...headers, 'content-type': 'application/json' }, body: '{' })
    const forged = await call({ ...alice.headers, 'x-host-nonce': 'x' })
    expect(seen(forged)).toEqual([403, 'rest_cookie_invalid_nonce'])
    expect(forged.headers['x-host-nonce']).toBeUndefined()
    expect(seen(await call(alice.headers))).toEqual([403, 'rest_forbidden'])
    expect(seen(await call(admin.headers))).toEqual([400, 'rest_invalid_json'])
  })

  it('says with every 401 how to sign in, and opens the dialogue of no browser that did not ask for Basic', async () => {
    const [stranger, unsigned, script] = [
      await get(),
      await get({ cookie: admin.cookie }),
      await get(basic('admin', 'wrong')),
    ]
    expect([stranger, unsigned, script].map(seen)).toEqual([1, 2, 3].map(() => [401, 'rest_forbidden']))
    expect(stranger.headers['www-authenticate']).toMatch(/^(?!Basic)\w+ realm="[^"]+"$/)
    expect(unsigned.headers['www-authenticate']).toBe(stranger.headers['www-authenticate'])
    expect(script.headers['www-authenticate']).toMatch(/^Basic realm="[^"]+", charset="UTF-8"$/)
    expect(unsigned.json.message).toContain('Send the X-HOST-Nonce header with the value of limiter.nonce(request).')
    expect(stranger.json.message).toBe('Sign in first.')
    expect(unsigned.headers['x-host-nonce']).toBeUndefined()
    expect(await host.isSignedIn(admin)).toBe(true)
  })

  it('gives a fresh nonce for a good one, also with an answer that says no', async () => {
    const answers = [
      await get(admin.headers),
      await host.call('POST', SETTINGS, { headers: admin.headers, json: { maximum: 0 } }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 400])
    for (const { headers } of answers) {
      expect((await get({ cookie: admin.cookie, 'x-host-nonce': headers['x-host-nonce'] })).status).toBe(200)
    }
  })

  it('takes the header that the application has named', async () => {
    const renamed = await startRestHost({ sessmgr: { nonceHeader: 'X-My-Nonce' } })
    onTestFinished(() => renamed.close())
    const { cookie, nonce } = await renamed.signIn('admin')
    const call = (headers: Record<string, string>) => renamed.call('GET', '/sessmgr/v1/openapi.json', { headers })
    expect((await call({ cookie, 'x-host-nonce': nonce })).status).toBe(401)
    const good = await call({ cookie, 'x-my-nonce': nonce })
    expect([good.status, good.headers['x-my-nonce']]).toEqual([200, expect.stringMatching(/^[\w-]{32}$/)])
    expect(good.json.components.securitySchemes.nonce.name).toBe('X-My-Nonce')
  })
})

it('rule 18: a fault inside is answered without what it says, a store that is down with a time to come back', async () => {
  const remove = host.limiter.hooks.addFilter('sessmgr_logics', 'broken', () => {
    throw new Error('canary-of-the-inside')
  })
  const fault = await host.call('POST', SETTINGS, { headers: admin.headers, json: { maximum: 2 } })
  remove()
  expect(fault.status).toBe(500)
  expect(fault.json).toEqual({ code: 'rest_internal_error', message: expect.any(String), data: { status: 500 } })
  expect(fault.text).not.toContain('canary')
  expect(host.logs.at(-1)?.[0]).toBe(`A REST call failed. See ${helpAt('hook_failed')}`)
  expect(JSON.stringify(host.logs.at(-1))).toContain('canary-of-the-inside')

  const { get: read } = host.registry.options
  host.registry.options.get = () => Promise.reject(new SessmgrError('store_unavailable', 'The store is down.'))
  const away = await get(await host.scriptOf('admin'))
  host.registry.options.get = read
  expect(seen(away)).toEqual([503, 'store_unavailable'])
  expect(away.headers['retry-after']).toMatch(/^[1-9]\d*$/)
})

it('a stranger, and one without the capability, learns nothing of who has an account: all answers are the same', async () => {
  const { token } = await host.signIn('alice')
  const strange = [{}, { cookie: 'connect.sid=s%3Aforged.forged' }, { 'x-host-nonce': 'forged' }]
  const bytesOf = ({ status, text, headers: { date: _date, 'x-host-nonce': _nonce, ...rest } }: RestAnswer) =>
    `${status} ${JSON.stringify(rest)} ${text}`
  for (const [status, callers] of [
    [401, strange],
    [403, [(await host.signIn('bob')).headers]],
  ] as const) {
    const answers = new Set<string>()
    for (const carried of callers) {
      for (const user of ['alice', 'nobody', '2', '99', 'alice@example.test', '']) {
        const [headers, json] = [{ ...carried }, { user, token }]
        answers.add(bytesOf(await host.call('POST', DESTROY, { headers, json })))
        answers.add(bytesOf(await host.call('GET', `/sessmgr/v1/sessions?user=${user}`, { headers })))
      }
    }
    expect([...answers]).toEqual([expect.stringMatching(`^${status} `)])
  }
  expect(await host.limiter.sessions.count(2)).toBeGreaterThan(0)
})

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
    const answer = await host.call('POST', DESTROY, { headers, json })
    const seen = [answer.status, answer.headers['retry-after'], answer.json.code, answer.headers['set-cookie']]
    expect(seen, about).toEqual([503, '2', 'store_unavailable', undefined])
    expect(answer.json.message).toContain(`${name}() did not respond within ${deadlineMs} ms. Try again shortly.`)
    expect(await host.snapshot(), about).toEqual(before)
  }
  // The right password asks no rate limiter.
  hanging = 'attempts.allow'
  expect((await host.call('GET', SETTINGS, { headers: script })).status).toBe(200)
})
