import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createNonces } from '../../../src/auth/nonce.ts'
import { REST_ACTION } from '../../../src/routes/late-routes.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { type SignedIn, startRestHost } from '../../support/rest-host.ts'
import { PAGE_ROUTES, type RouteCall, UNSAFE_ROUTES } from '../../support/rest-routes.ts'

const SECRET = 'the secret of the site, long enough'
const HOUR = 60 * 60_000

interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string | undefined
}
interface Attack {
  readonly name: string
  readonly status: number | readonly number[]
  /** What the browser of a signed-in administrator would send for a page of somebody else. */
  request(route: RouteCall, admin: SignedIn): Promise<Request>
}

const host = forThisFile(() => startRestHost({ sessmgr: { secret: SECRET, settings: { maximum: 5000 } } }))
afterEach(() => void vi.useRealTimers())

/** The call as the admin's own page makes it. */
function genuine({ method, path, json }: RouteCall, admin: SignedIn): Request {
  const body = json && JSON.stringify(json)
  return { method, path, body, headers: { ...admin.headers, ...(body ? { 'content-type': 'application/json' } : {}) } }
}

const withHeaders =
  (headers: Record<string, string>): Attack['request'] =>
  async (route, admin) => {
    const request = genuine(route, admin)
    return { ...request, headers: { ...request.headers, ...headers } }
  }
const withNonce =
  (nonce: (admin: SignedIn) => Promise<string>): Attack['request'] =>
  async (route, admin) =>
    withHeaders({ 'x-host-nonce': await nonce(admin) })(route, admin)
const signedAt = (ms: number, change: object = {}) =>
  withNonce(({ token }) => {
    const nonces = createNonces(async () => [SECRET], { now: () => Date.now() + ms })
    return nonces.create({ userId: 1, token, action: REST_ACTION, ...change })
  })
const foreign = { 'sec-fetch-site': 'cross-site' }

const ATTACKS: readonly Attack[] = [
  {
    name: 'no nonce',
    status: 401,
    async request(route, admin) {
      const { 'x-host-nonce': _nonce, ...headers } = genuine(route, admin).headers
      return { ...genuine(route, admin), headers }
    },
  },
  { name: 'an empty nonce', status: 403, request: withHeaders({ 'x-host-nonce': '' }) },
  { name: 'a wrong nonce', status: 403, request: withHeaders({ 'x-host-nonce': 'A'.repeat(32) }) },
  { name: "another user's nonce", status: 403, request: withNonce(async () => (await host.signIn('dora')).nonce) },
  { name: "a subscriber's nonce", status: 403, request: withNonce(async () => (await host.signIn('alice')).nonce) },
  {
    name: 'a nonce of his other session',
    status: 403,
    request: withNonce(async () => (await host.signIn('admin')).nonce),
  },
  { name: 'a nonce for another action', status: 403, request: signedAt(0, { action: 'logout' }) },
  { name: 'a nonce of 24 hours ago', status: 403, request: signedAt(-24 * HOUR) },
  { name: 'a nonce of tomorrow', status: 403, request: signedAt(24 * HOUR) },
  {
    name: 'his own nonce, 24 hours and a second later',
    status: 403,
    async request(route, admin) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * HOUR + 1000 })
      return genuine(route, admin)
    },
  },
  {
    name: 'a nonce by somebody who does not know the secret',
    status: 403,
    request: withNonce(({ token }) => {
      const nonces = createNonces(async () => [''], { now: () => Date.now() })
      return nonces.create({ userId: 1, token, action: REST_ACTION })
    }),
  },
  { name: 'Sec-Fetch-Site: cross-site', status: 403, request: withHeaders(foreign) },
  { name: 'Sec-Fetch-Site: same-site', status: 403, request: withHeaders({ 'sec-fetch-site': 'same-site' }) },
  { name: 'Sec-Fetch-Site: none', status: 403, request: withHeaders({ 'sec-fetch-site': 'none' }) },
  { name: 'an empty Sec-Fetch-Site', status: 403, request: withHeaders({ 'sec-fetch-site': '' }) },
  { name: 'a foreign Origin', status: 403, request: withHeaders({ origin: 'https://evil.example' }) },
  { name: 'Origin: null', status: 403, request: withHeaders({ origin: 'null' }) },
  { name: 'an Origin on another port', status: 403, request: withHeaders({ origin: 'http://127.0.0.1:1' }) },
  {
    name: 'an Origin that begins with this one',
    status: 403,
    request: withHeaders({ host: 'shop.example', origin: 'https://shop.example.evil.example' }),
  },
  {
    name: 'an Origin that hides this one in its user name',
    status: 403,
    request: async (route, admin) =>
      withHeaders({ origin: `http://${host.origin.slice(7)}@evil.example` })(route, admin),
  },
  {
    name: 'Sec-Fetch-Site: cross-site, with an Origin that looks right',
    status: 403,
    request: async (route, admin) => withHeaders({ ...foreign, origin: host.origin })(route, admin),
  },
  {
    name: 'text/plain',
    status: 415,
    request: withHeaders({ 'content-type': 'text/plain' }),
  },
  {
    name: 'a form post',
    status: 415,
    async request(route, admin) {
      const headers = { ...admin.headers, 'content-type': 'application/x-www-form-urlencoded' }
      return { ...genuine(route, admin), headers, body: 'maximum=9&user=alice' }
    },
  },
  {
    name: 'an empty form post',
    status: 415,
    async request(route, admin) {
      const headers = { ...admin.headers, 'content-type': 'application/x-www-form-urlencoded' }
      return { ...genuine(route, admin), headers, body: '' }
    },
  },
  {
    name: 'a multipart form post',
    status: 415,
    async request(route, admin) {
      const headers = { ...admin.headers, 'content-type': 'multipart/form-data; boundary=x' }
      const body = '--x\r\nContent-Disposition: form-data; name="user"\r\n\r\nalice\r\n--x--\r\n'
      return { ...genuine(route, admin), headers, body }
    },
  },
  {
    name: 'GET, with the parameters in the address',
    status: [200, 405],
    async request(route, admin) {
      const path = `${route.path}?maximum=9&user=alice&sessmgr_settings[maximum]=9&_method=POST`
      return { method: 'GET', path, headers: { ...admin.headers, 'x-http-method-override': route.method } }
    },
  },
]

/** One route that also takes an application password, and one that takes only a session. */
const SETTINGS = UNSAFE_ROUTES.filter(({ method, path }) => method === 'PUT' && path === '/sessmgr/v1/settings')
const TYPICAL = [...SETTINGS, ...PAGE_ROUTES]
/** What each route has to refuse by itself: that it needs the checks, and that its GET changes nothing. */
const OF_EACH_ROUTE = ['Sec-Fetch-Site: cross-site', 'GET, with the parameters in the address']

describe.each(ATTACKS)('with $name', ({ name, status, request }) => {
  const routes = OF_EACH_ROUTE.includes(name) ? [...UNSAFE_ROUTES, ...PAGE_ROUTES] : TYPICAL
  it.each(routes)('$method $path does nothing', async (route) => {
    const [admin] = [await host.signIn('admin'), await host.signIn('alice')]
    const { method, path, headers, body } = await request(route, admin)
    const before = await host.snapshot()
    const answer = await host.call(method, path, { headers, body })
    expect([status].flat()).toContain(answer.status)
    if (answer.status !== 200) expect(answer.json.data.status).toBe(answer.status)
    expect(await host.snapshot()).toEqual(before)
  })
})

describe.each([
  ['nothing of where it comes from', () => ({})],
  ['Sec-Fetch-Site: same-origin', () => ({ 'sec-fetch-site': 'same-origin' })],
  ['the Origin of this site', () => ({ origin: host.origin })],
  ['both', () => ({ 'sec-fetch-site': 'same-origin', origin: host.origin })],
] as const)('the page of the admin himself, with %s', (_what, headers) => {
  it.each(TYPICAL)('gets through to $method $path', async (route) => {
    const admin = await host.signIn('admin')
    await host.arrange()
    const request = await withHeaders({ ...headers() })(route, admin)
    const before = await host.snapshot()
    expect((await host.call(request.method, request.path, request)).status).toBe(200)
    expect(await host.snapshot()).not.toEqual(before)
  })
})

describe('reading', () => {
  it('needs the nonce, and may come from anywhere that has it', async () => {
    const admin = await host.signIn('admin')
    const read = (headers: Record<string, string>) => host.call('GET', '/sessmgr/v1/settings', { headers })
    expect((await read({ cookie: admin.cookie })).status).toBe(401)
    expect((await read({ ...admin.headers, ...foreign })).status).toBe(200)
  })

  it('lets no page of another site read along: there is not one CORS header', async () => {
    const admin = await host.signIn('admin')
    const headers = { ...admin.headers, origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const answer = await host.call(method, '/sessmgr/v1/settings', { headers })
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})

describe.each([4, 5] as const)('behind body parsers of the application, on Express %d', (express) => {
  const start = async () => {
    const behind = await startRestHost({ parsers: 'before', express })
    onTestFinished(() => behind.close())
    return behind
  }

  it.each(['application/x-www-form-urlencoded', 'text/plain'])('a post of %s does nothing either', async (type) => {
    const behind = await start()
    const admin = await behind.signIn('admin')
    const headers = { ...admin.headers, 'content-type': type }
    for (const [path, body] of [
      ['settings', 'maximum=9'],
      ['sessions/destroy', 'user=admin'],
      ['sessions/destroy-all', 'x=1'],
      ['sessions/destroy-all', ''],
    ]) {
      const before = await behind.snapshot()
      expect((await behind.call('POST', `/sessmgr/v1/${path}`, { headers, body })).status).toBe(415)
      expect(await behind.snapshot()).toEqual(before)
    }
  })

  it('JSON that they have read already is taken, and so is no body at all', async () => {
    const behind = await start()
    const { headers } = await behind.signIn('admin')
    const good = await behind.call('POST', '/sessmgr/v1/settings', { headers, json: { maximum: 9 } })
    expect([good.status, good.json.maximum]).toEqual([200, 9])
    const list = await behind.call('POST', '/sessmgr/v1/settings', { headers, json: [{ maximum: 2 }] })
    expect([list.status, list.json.code]).toEqual([400, 'rest_invalid_json'])
    expect((await behind.call('POST', '/sessmgr/v1/sessions/destroy-all', { headers })).status).toBe(200)
    expect((await behind.call('GET', '/sessmgr/v1/settings', { headers })).json.maximum).toBe(9)
  })
})
