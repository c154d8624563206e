import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freemiusLicensing } from '../../../src/licensing.ts'
import { type RestHost, startRestHost } from '../../support/rest-host.ts'
import { LICENSE_KEY } from '../../support/rest-licensing.ts'
import { API_TOKEN, type Fault, type FreemiusServer, PARENT, startFreemius } from './freemius-server.ts'
import { createVendor, OFFLINE_ADDONS } from './offline-vendor.ts'

const ADDONS = '/sessmgr/v1/addons'
const FIELDS = [
  ...['id', 'title', 'icon', 'link', 'description', 'homepage', 'is_premium', 'is_active', 'is_license_active'],
  ...['license_key', 'banner', 'banner_large'],
]
const site = { url: 'https://shop.example.test' }

let host: RestHost
let headers: Record<string, string>
async function start(options: Parameters<typeof startRestHost>[0] = {}): Promise<void> {
  host = await startRestHost(options)
  headers = await host.scriptOf('admin')
}
beforeEach(() => start())
afterEach(() => host.close())

const call = (method: string, path = '', json?: unknown) => host.call(method, `${ADDONS}${path}`, { headers, json })

describe('GET /addons', () => {
  it('gives rows of exactly the fields of the specification, and nothing beside', async () => {
    const { status, json, headers: answered } = await call('GET')
    expect([status, Object.keys(json), answered['cache-control']]).toEqual([200, ['items'], 'no-store'])
    for (const item of json.items) expect(Object.keys(item)).toEqual(FIELDS)
    expect(json.items[0]).toEqual({
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
    })
  })

  it('gives an empty catalogue where nobody has said anything of add-ons', async () => {
    await host.close()
    await start({ sessmgr: { licensing: undefined, site: undefined } })
    expect((await call('GET')).json).toEqual({ items: [] })
    expect((await call('POST', '/refresh')).json).toEqual({ items: [] })
    expect((await call('POST', '/1001/license', { key: 'x' })).status).toBe(404)
  })
})

describe('rule 24: POST and DELETE /addons/{id}/license', () => {
  it('answer the bare row, as it is now', async () => {
    const done = await call('POST', '/1001/license', { key: ` ${LICENSE_KEY} ` })
    expect([done.status, done.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(Object.keys(done.json)).toEqual(FIELDS)
    expect(done.json).toMatchObject({ id: 1001, is_license_active: true, license_key: LICENSE_KEY })
    expect((await call('GET')).json.items[0]).toEqual(done.json)
    const undone = await call('DELETE', '/1001/license')
    expect([undone.status, undone.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(undone.json).toEqual({ ...done.json, is_license_active: false, license_key: '' })
  })

  it.each<[string, string, unknown, number, string]>([
    ['POST', '/1001/license', {}, 400, 'empty_activation_key'],
    ['POST', '/1001/license', undefined, 400, 'empty_activation_key'],
    ['POST', '/1001/license', { key: null }, 400, 'empty_activation_key'],
    ['POST', '/1001/license', { key: '' }, 400, 'empty_activation_key'],
    ['POST', '/1001/license', { key: ' \n ' }, 400, 'empty_activation_key'],
    ['POST', '/1001/license', { key: 7 }, 400, 'rest_invalid_param'],
    ['POST', '/1001/license', { key: ['x'] }, 400, 'rest_invalid_param'],
    ['POST', '/1001/license', { key: { x: 1 } }, 400, 'rest_invalid_param'],
    ['POST', '/1001/license', { key: 'k'.repeat(10_001) }, 400, 'rest_invalid_param'],
    ['POST', '/1001/license', { key: 'canary-that-is-no-license' }, 400, 'license_invalid'],
    ['POST', '/1002/license', { key: LICENSE_KEY }, 400, 'license_wrong_product'],
    ['POST', '/1003/license', { key: LICENSE_KEY }, 400, 'not_premium'],
    ['POST', '/7/license', { key: 'x' }, 404, 'addon_not_found'],
    ['POST', '/0/license', { key: 'x' }, 404, 'addon_not_found'],
    ['POST', '/-1/license', { key: 'x' }, 404, 'addon_not_found'],
    ['POST', '/01001/license', { key: 'x' }, 404, 'addon_not_found'],
    ['POST', '/1001.0/license', { key: 'x' }, 404, 'addon_not_found'],
    ['POST', '/1e3/license', { key: 'x' }, 404, 'addon_not_found'],
    ['POST', '/x/license', { key: '' }, 404, 'addon_not_found'],
    ['POST', '/__proto__/license', { key: 'x' }, 404, 'addon_not_found'],
    ['POST', '/99999999999999999999/license', { key: 'x' }, 404, 'addon_not_found'],
    ['POST', '/9999999999999999/license', { key: 'x' }, 404, 'addon_not_found'],
    ['POST', '//license', { key: 'x' }, 404, 'rest_no_route'],
    ['DELETE', '/1001/license', undefined, 400, 'invalid_activation_data'],
    ['DELETE', '/1003/license', undefined, 400, 'not_premium'],
    ['DELETE', '/7/license', undefined, 404, 'addon_not_found'],
    ['DELETE', '/x/license', undefined, 404, 'addon_not_found'],
  ])('%s %s with %j is refused: %i %s', async (method, path, json, status, code) => {
    const before = await host.snapshot()
    const answer = await call(method, path, json)
    expect([answer.status, answer.json.code, answer.json.data.status]).toEqual([status, code, status])
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.text).not.toContain('canary')
    expect(await host.snapshot()).toEqual(before)
  })

  it('an add-on that is not installed', async () => {
    host.limiter.hooks.removeFilter('sessmgr_register_addon', 'test')
    expect((await call('POST', '/1001/license', { key: LICENSE_KEY })).json.code).toBe('addon_not_initialized')
    expect((await call('DELETE', '/1001/license')).json.code).toBe('addon_not_initialized')
  })

  it('the id in the path counts, not one in the body', async () => {
    const answer = await call('POST', '/1001/license', { key: LICENSE_KEY, id: '1002' })
    expect(answer.json).toMatchObject({ id: 1001, is_license_active: true })
  })

  it.each(['GET', 'PUT', 'PATCH'])('%s is none of their methods', async (method) => {
    const answer = await call(method, '/1001/license')
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST, DELETE'])
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
    const licensing = freemiusLicensing({ productId: PARENT, apiToken: API_TOKEN, baseUrl, timeoutMs: 2000 })
    await start({ sessmgr: { licensing, site } })
  })
  afterEach(() => server.close())

  const ends =
    (status: number, body = ''): Fault =>
    (_request, response) =>
      response.writeHead(status).end(body)
  const onChange =
    (fault: Fault): Fault =>
    (request, response) =>
      request.method === 'GET' ? false : fault(request, response)

  it('100 who open the page at once on a cold cache make one call', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => call('GET')))
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.items.length}`))).toEqual(new Set(['200 3']))
    expect(server.requests).toHaveLength(1)
  })

  it('the code of the backend is told beside our own', async () => {
    const { status, json } = await call('POST', '/1001/license', { key: 'sk_canary_unknown_key' })
    expect([status, json]).toEqual([
      400,
      {
        code: 'license_invalid',
        message: 'This license key is not valid.',
        data: { status: 400, provider_code: 'invalid_license_key' },
      },
    ])
  })

  it.each<[string, Fault]>([
    ['says nothing', () => {}],
    ['is overloaded', ends(503)],
    ['has had enough', ends(429)],
    ['hangs up', (_request, response) => response.socket?.resetAndDestroy()],
  ])('a backend that %s is 400 provider_unavailable, to be tried again, for a license', async (_what, fault) => {
    await call('POST', '/1001/license', { key: server.issue(1001) })
    const before = await host.snapshot()
    server.fault = onChange(fault)
    for (const answer of [
      await call('POST', '/1001/license', { key: server.issue(1001) }),
      await call('DELETE', '/1001/license'),
    ]) {
      expect([answer.status, answer.json.code, answer.json.data]).toEqual([
        400,
        'provider_unavailable',
        { status: 400, retryable: true },
      ])
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
    server.fault = () => {}
    const hanging = call('GET').then(() => 'answered')
    await expect.poll(() => server.requests.length).toBe(1)
    const alice = await host.signIn('alice')
    expect(await host.isSignedIn(alice)).toBe(true)
    expect(await Promise.race([hanging, Promise.resolve('hanging')])).toBe('hanging')
    expect(await host.limiter.addons.isLicensed(1001)).toBe(false)
    expect(await Promise.race([hanging, Promise.resolve('hanging')])).toBe('hanging')
    await hanging
  })
})

describe('in process', () => {
  it('limiter.addons is the same add-ons', async () => {
    const { addons } = host.limiter
    expect(await addons.isLicensed(1001)).toBe(false)
    await call('POST', '/1001/license', { key: LICENSE_KEY })
    expect(await addons.isLicensed(1001)).toBe(true)
    expect(await addons.list()).toEqual((await call('GET')).json)
    expect(OFFLINE_ADDONS.map(({ id }) => id)).toEqual((await addons.refresh()).items.map(({ id }) => id))
  })

  it('a license of a stranger is none, also under a kid that is known', async () => {
    const key = await createVendor().issue(1001)
    await expect(host.limiter.addons.activate(1001, key)).rejects.toMatchObject({ code: 'license_invalid' })
  })

  it('uninstalling forgets the licenses', async () => {
    await host.arrange()
    await host.limiter.uninstall()
    expect(await host.limiter.addons.isLicensed(1001)).toBe(false)
  })
})
