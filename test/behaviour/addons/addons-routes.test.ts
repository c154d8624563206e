import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freemiusLicensing } from '../../../src/licensing.ts'
import { type RestHost, startRestHost } from '../../support/rest-host.ts'
import { LICENSE_KEY } from '../../support/rest-licensing.ts'
import { API_TOKEN, type Fault, type FreemiusServer, PARENT, startFreemius } from './freemius-server.ts'

const ADDONS = '/sessmgr/v1/addons'
const ROW = {
  id: 1001,
  title: 'Limit per role',
  icon: '',
  link: '',
  description: '',
  homepage: 'https://example.test/role',
  is_premium: true,
  is_active: true,
  is_license_active: false,
  license_key: '',
  banner: '',
  banner_large: '',
}

let host: RestHost
let headers: Record<string, string>
async function start(options: Parameters<typeof startRestHost>[0] = {}): Promise<void> {
  host = await startRestHost(options)
  headers = await host.scriptOf('admin')
}
beforeEach(() => start())
afterEach(() => host.close())

const call = (method: string, path = '', json?: unknown) => host.call(method, `${ADDONS}${path}`, { headers, json })

it('GET /addons gives rows of exactly the fields of the specification, or none where nobody has said of add-ons', async () => {
  const { status, json, headers: answered } = await call('GET')
  expect([status, Object.keys(json), answered['cache-control']]).toEqual([200, ['items'], 'no-store'])
  for (const item of json.items) expect(Object.keys(item)).toEqual(Object.keys(ROW))
  expect(json.items[0]).toEqual(ROW)
  await host.close()
  await start({ sessmgr: { licensing: undefined, site: undefined } })
  expect((await call('GET')).json).toEqual({ items: [] })
  expect((await call('POST', '/refresh')).json).toEqual({ items: [] })
  expect((await call('POST', '/1001/license', { key: 'x' })).status).toBe(404)
})

describe('rule 24: POST and DELETE /addons/{id}/license', () => {
  it('answer the bare row of the id in the path, as it is now, and as limiter.addons gives it', async () => {
    const { addons } = host.limiter
    expect(await addons.isLicensed(1001)).toBe(false)
    const done = await call('POST', '/1001/license', { key: ` ${LICENSE_KEY} `, id: '1002' })
    expect([done.status, done.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(done.json).toEqual({ ...ROW, is_license_active: true, license_key: LICENSE_KEY })
    expect((await call('GET')).json.items[0]).toEqual(done.json)
    expect([await addons.isLicensed(1001), await addons.list()]).toEqual([true, (await call('GET')).json])
    const undone = await call('DELETE', '/1001/license')
    expect([undone.status, undone.headers['cache-control'], undone.json]).toEqual([200, 'no-store', ROW])
    await call('POST', '/1001/license', { key: LICENSE_KEY })
    await host.limiter.uninstall()
    expect(await addons.isLicensed(1001)).toBe(false)
  })

  it('are refused with the code of what is wrong, and change nothing', async () => {
    const before = await host.snapshot()
    const strangeIds = ['0', '-1', '01001', '1001.0', '1e3', 'x', '__proto__', '9007199254740992', '9'.repeat(20)]
    const rows: readonly (readonly [string, string, unknown, number, string])[] = [
      ...[undefined, {}, { key: null }, { key: '' }, { key: ' \n ' }].map(
        (json) => ['POST', '/1001/license', json, 400, 'empty_activation_key'] as const,
      ),
      ...[7, ['x'], { x: 1 }, 'k'.repeat(10_001)].map(
        (key) => ['POST', '/1001/license', { key }, 400, 'rest_invalid_param'] as const,
      ),
      ['POST', '/1001/license', { key: 'canary-that-is-no-license' }, 400, 'license_invalid'],
      ['POST', '/1002/license', { key: LICENSE_KEY }, 400, 'license_wrong_product'],
      ['POST', '/1003/license', { key: LICENSE_KEY }, 400, 'not_premium'],
      ...['7', ...strangeIds].flatMap((id) => [
        ['POST', `/${id}/license`, { key: 'x' }, 404, 'addon_not_found'] as const,
        ['DELETE', `/${id}/license`, undefined, 404, 'addon_not_found'] as const,
      ]),
      ['POST', '//license', { key: 'x' }, 404, 'rest_no_route'],
      ['DELETE', '/1001/license', undefined, 400, 'invalid_activation_data'],
      ['DELETE', '/1003/license', undefined, 400, 'not_premium'],
    ]
    for (const [method, path, json, status, code] of rows) {
      const answer = await call(method, path, json)
      const seen = [answer.status, answer.json.code, answer.json.data.status, answer.headers['cache-control']]
      const what = `${method} ${path} ${JSON.stringify(json)?.slice(0, 40)}`
      expect(seen, what).toEqual([status, code, status, 'no-store'])
      expect(answer.text, what).not.toContain('canary')
    }
    expect(await host.snapshot()).toEqual(before)
    host.limiter.hooks.removeFilter('sessmgr_register_addon', 'test')
    for (const [id, code] of [
      [1001, 'addon_not_initialized'],
      [1003, 'not_premium'],
    ] as const) {
      expect((await call('POST', `/${id}/license`, { key: LICENSE_KEY })).json.code).toBe(code)
      expect((await call('DELETE', `/${id}/license`)).json.code).toBe(code)
    }
    for (const method of ['GET', 'PUT', 'PATCH']) {
      const answer = await call(method, '/1001/license')
      expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, 'POST, DELETE'])
    }
  })

  it('a subscriber that fails is a fault of the server, and tells the caller nothing', async () => {
    host.limiter.hooks.addFilter('sessmgr_addons_catalog', 'broken', () => {
      throw new Error('canary of the add-on')
    })
    for (const answer of [await call('GET'), await call('POST', '/1001/license', { key: LICENSE_KEY })]) {
      expect([answer.status, answer.json.code]).toEqual([500, 'rest_internal_error'])
      expect(answer.text).not.toContain('canary')
    }
  })
})

describe('with a provider elsewhere', () => {
  let server: FreemiusServer
  beforeEach(async () => {
    server = await startFreemius()
    await host.close()
    const { baseUrl } = server
    const licensing = freemiusLicensing({ productId: PARENT, apiToken: API_TOKEN, baseUrl, timeoutMs: 1000 })
    await start({ sessmgr: { licensing, site: { url: 'https://shop.example.test' } } })
  })
  afterEach(() => server.close())

  const ends =
    (status: number, body = ''): Fault =>
    (_request, response) =>
      response.writeHead(status).end(body)

  it('the code of the backend is told beside our own', async () => {
    const { status, json } = await call('POST', '/1001/license', { key: 'sk_canary_unknown_key' })
    const data = { status: 400, provider_code: 'invalid_license_key' }
    expect([status, json]).toEqual([400, { code: 'license_invalid', message: expect.any(String), data }])
  })

  it('a backend that is away or busy is 400 provider_unavailable, to be tried again, for a license', async () => {
    await call('POST', '/1001/license', { key: server.issue(1001) })
    const before = await host.snapshot()
    for (const fault of [() => {}, ends(429), ends(503)] satisfies Fault[]) {
      server.fault = (request, response) => (request.method === 'GET' ? false : fault(request, response))
      for (const answer of [
        await call('POST', '/1001/license', { key: server.issue(1001) }),
        await call('DELETE', '/1001/license'),
      ]) {
        const expected = [400, 'provider_unavailable', { status: 400, retryable: true }]
        expect([answer.status, answer.json.code, answer.json.data]).toEqual(expected)
      }
    }
    expect(await host.snapshot()).toEqual(before)
  })

  it('without a list yet, a backend that is down is 503, one that talks nonsense 502, and a license 400', async () => {
    server.fault = ends(429)
    const down = await call('GET')
    expect([down.status, down.json.code, down.json.data.retryable]).toEqual([503, 'provider_unavailable', true])
    expect(down.headers['retry-after']).toBe('30')
    expect((await call('POST', '/1001/license', { key: 'x' })).json).toMatchObject({
      code: 'provider_unavailable',
      data: { status: 400, retryable: true },
    })
    server.fault = ends(200, '<h1>Sign in</h1>')
    const nonsense = await call('POST', '/refresh')
    expect([nonsense.status, nonsense.json.code]).toEqual([502, 'provider_bad_response'])
  })

  it('a login, and the pages of who is signed in, do not wait while the backend hangs', async () => {
    let release = () => {}
    server.fault = () => new Promise<void>((resolve) => (release = resolve)).then(() => false)
    await host.close()
    const licensing = freemiusLicensing({ productId: PARENT, apiToken: API_TOKEN, baseUrl: server.baseUrl })
    await start({ sessmgr: { licensing, site: { url: 'https://shop.example.test' } } })
    const hanging = call('GET').then(() => 'answered')
    await expect.poll(() => server.requests.length).toBe(1)
    const alice = await host.signIn('alice')
    expect(await host.isSignedIn(alice)).toBe(true)
    expect(await host.limiter.addons.isLicensed(1001)).toBe(false)
    expect(await Promise.race([hanging, Promise.resolve('hanging')])).toBe('hanging')
    release()
    expect(await hanging).toBe('answered')
  })
})
