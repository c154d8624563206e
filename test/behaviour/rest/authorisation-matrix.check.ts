import { describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { basic } from '../../support/rest-client.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { ADMIN_ROUTES, OWN_SESSION_ROUTES, PAGE_ROUTES, pathOf } from '../../support/rest-routes.ts'

type Expected = readonly [status: number, code?: string]
interface Caller {
  readonly name: string
  readonly expected: Expected
  headers(): Promise<Record<string, string>>
}

const host = forThisFile(() => startRestHost())

const ANONYMOUS: Expected = [401, 'rest_forbidden']
const FORBIDDEN: Expected = [403, 'rest_forbidden']
const withNonce = async (login: string) => ({ ...(await host.signIn(login)).headers })
const withoutNonce = async (login: string) => ({ cookie: (await host.signIn(login)).cookie })
const script = (login: string) => host.scriptOf(login)

const CALLERS: readonly Caller[] = [
  { name: 'anonymous', expected: ANONYMOUS, headers: async () => ({}) },
  { name: 'subscriber', expected: FORBIDDEN, headers: () => withNonce('alice') },
  { name: 'subscriber without nonce', expected: ANONYMOUS, headers: () => withoutNonce('alice') },
  { name: 'subscriber with application password', expected: FORBIDDEN, headers: () => script('alice') },
  { name: 'editor', expected: FORBIDDEN, headers: () => withNonce('carol') },
  { name: 'editor with application password', expected: FORBIDDEN, headers: () => script('carol') },
  { name: 'admin without nonce', expected: ANONYMOUS, headers: () => withoutNonce('admin') },
  { name: 'admin with nonce', expected: [200], headers: () => withNonce('admin') },
  { name: 'application password', expected: [200], headers: () => script('admin') },
  {
    name: 'revoked application password',
    expected: ANONYMOUS,
    async headers() {
      const { id, password } = await host.limiter.passwords.create(1, 'revoked')
      await host.limiter.passwords.revoke(1, id)
      return basic('admin', password)
    },
  },
  {
    name: 'disabled admin',
    expected: FORBIDDEN,
    async headers() {
      const headers = await withNonce('dora')
      host.user('dora').disabled = true
      return headers
    },
  },
  {
    name: 'disabled admin with application password',
    expected: FORBIDDEN,
    async headers() {
      host.user('dora').disabled = true
      return script('dora')
    },
  },
  {
    name: 'admin who has become a subscriber',
    expected: FORBIDDEN,
    async headers() {
      const headers = await withNonce('dora')
      host.user('dora').role = 'subscriber'
      return headers
    },
  },
]

/** Each route shows which of these it lets in; the others are told apart before a route is asked. */
const OF_EACH_ROUTE = ['editor', 'application password']
const TYPICAL = ADMIN_ROUTES.filter(({ method, path }) => path === '/sessmgr/v1/settings' && /GET|PUT/.test(method))

describe.each(CALLERS)('$name', ({ name, expected: [status, code], headers }) => {
  it.each(OF_EACH_ROUTE.includes(name) ? ADMIN_ROUTES : TYPICAL)(
    `is answered ${status} by $method $path`,
    async (route) => {
      const { method, path, json, changesNothing, isFile } = route
      Object.assign(host.user('dora'), { disabled: false, role: 'administrator' })
      await host.arrange()
      const carried = await headers()
      const before = await host.snapshot()
      const answer = await host.call(method, path, { headers: carried, json })
      expect(answer.headers['cache-control'], 'rule 26').toBe('no-store')
      const isSent = isFile && answer.status === 200
      expect([answer.status, isSent ? undefined : answer.json.code]).toEqual([status, code])
      if (status !== 200) expect(await host.snapshot()).toEqual(before)
      else if (method !== 'GET' && !changesNothing) expect(await host.snapshot()).not.toEqual(before)
    },
  )
})

describe.each(CALLERS)('$name, to a route that accepts only a session', ({ name, expected, headers }) => {
  // Passwords are ignored there.
  const [status, code] = name.includes('application password') ? ANONYMOUS : expected
  it.each(PAGE_ROUTES)(`is answered ${status} by $method $path`, async ({ method, path, json }) => {
    Object.assign(host.user('dora'), { disabled: false, role: 'administrator' })
    const carried = await headers()
    const before = await host.snapshot()
    const answer = await host.call(method, path, { headers: carried, json })
    expect([answer.status, answer.json.code]).toEqual([status, code])
    if (status === 200) expect(await host.snapshot()).not.toEqual(before)
    else expect(await host.snapshot()).toEqual(before)
  })
})

describe('the matrix', () => {
  it('has every route that there is', async () => {
    const { paths } = (await host.call('GET', '/sessmgr/v1/openapi.json', { headers: await script('admin') })).json
    const described = Object.entries(paths as Record<string, object>).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const tested = [...ADMIN_ROUTES, ...PAGE_ROUTES, ...OWN_SESSION_ROUTES].map(
      (route) => `${route.method} ${pathOf(route)}`,
    )
    expect(tested.toSorted()).toEqual(described.toSorted())
  })
})

describe('an admin who is gone', () => {
  it('is a stranger, with his cookie and with his password, also when the application says null for nobody', async () => {
    Object.assign(host.user('dora'), { disabled: false, role: 'administrator' })
    const [cookie, password] = [await withNonce('dora'), await script('dora')]
    const { users } = host.limiter.host ?? {}
    if (!users) throw new Error('the application has users')
    const found = { ...users }
    for (const nobody of [undefined, null]) {
      const gone = async () => nobody
      Object.assign(users, { findById: gone, findByLogin: gone, findByEmail: gone })
      for (const headers of [cookie, password]) {
        const answer = await host.call('GET', '/sessmgr/v1/settings', { headers })
        expect([answer.status, answer.json.code]).toEqual([401, 'rest_forbidden'])
      }
    }
    Object.assign(users, found)
    for (const headers of [cookie, password]) {
      expect((await host.call('GET', '/sessmgr/v1/settings', { headers })).status).toBe(200)
    }
  })
})
