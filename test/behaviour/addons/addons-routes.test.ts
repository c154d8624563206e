import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RestHost, startRestHost } from '../../support/rest-host.ts'
import { LICENSE_KEY } from '../../support/rest-licensing.ts'
import { type Fault, providerOf, startFreemius } from './freemius-server.ts'

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
  await host?.close()
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
  await start({ sessmgr: { licensing: undefined, site: undefined } })
  expect((await call('GET')).json).toEqual({ items: [] })
  expect((await call('POST', '/refresh')).json).toEqual({ items: [] })
  expect((await call('POST', '/1001/license', { key: 'x' })).status).toBe(404)
})

it('rule 24: POST and DELETE /addons/{id}/license answer the row of the id in the path, as it is now', async () => {
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

it('rule 24: they are refused with the code of what is wrong, and change nothing', async () => {
  const before = await host.snapshot()
  const strangeIds = ['7', '0', '-1', '01001', '1001.0', '1e3', 'x', '__proto__', '9007199254740992']
  const empty = [undefined, {}, { key: null }, { key: '' }, { key: ' \n ' }]
  const noText = [7, ['x'], { x: 1 }, 'k'.repeat(10_001)]
  const rows: readonly (readonly [string, string, unknown, number, string])[] = [
    ...empty.map((json) => ['POST', '/1001/license', json, 400, 'empty_activation_key'] as const),
    ...noText.map((key) => ['POST', '/1001/license', { key }, 400, 'rest_invalid_param'] as const),
    ['POST', '/1001/license', { key: 'canary-that-is-no-license' }, 400, 'license_invalid'],
    ['POST', '/1002/license', { key: LICENSE_KEY }, 400, 'license_wrong_product'],
    ['POST', '/1003/license', { key: LICENSE_KEY }, 400, 'not_premium'],
    ...strangeIds.map((id) => ['POST', `/${id}/license`, { key: 'x' }, 404, 'addon_not_found'] as const),
    ['DELETE', '/7/license', undefined, 404, 'addon_not_found'],
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
  expect((await call('POST', '/1001/license', { key: LICENSE_KEY })).json.code).toBe('addon_not_initialized')
  expect((await call('DELETE', '/1001/license')).json.code).toBe('addon_not_initialized')
  const answer = await call('GET', '/1001/license')
  expect([answer.status, answer.headers.allow]).toEqual([405, 'POST, DELETE'])
  host.limiter.hooks.addFilter('sessmgr_addons_catalog', 'broken', () => {
    throw new Error('canary of the add-on')
  })
  const failed = await call('GET')
  expect([failed.status, failed.json.code]).toEqual([500, 'rest_internal_error'])
  expect(failed.text).not.toContain('canary')
})

it('a provider elsewhere: its codes, what it is when it is away, and nobody waits for it while it hangs', async () => {
  const server = await startFreemius()
  const licensing = providerOf(server, { timeoutMs: 10_000 })
  await start({ sessmgr: { licensing, site: { url: 'https://shop.example.test' } } })
  const ends =
    (status: number, body = ''): Fault =>
    (_request, response) =>
      response.writeHead(status).end(body)

  server.fault = ends(429)
  const down = await call('GET')
  expect([down.status, down.json.code, down.json.data.retryable]).toEqual([503, 'provider_unavailable', true])
  expect(down.headers['retry-after']).toBe('30')
  server.fault = ends(200, '<h1>Sign in</h1>')
  const nonsense = await call('POST', '/refresh')
  expect([nonsense.status, nonsense.json.code]).toEqual([502, 'provider_bad_response'])

  let release = () => {}
  server.requests.length = 0
  server.fault = () => new Promise<void>((resolve) => (release = resolve)).then(() => false)
  const hanging = call('GET').then(() => 'answered')
  await expect.poll(() => server.requests.length).toBe(1)
  expect(await host.isSignedIn(await host.signIn('alice'))).toBe(true)
  expect(await host.limiter.addons.isLicensed(1001)).toBe(false)
  expect(await Promise.race([hanging, Promise.resolve('hanging')])).toBe('hanging')
  release()
  expect(await hanging).toBe('answered')

  server.fault = undefined
  const unknown = await call('POST', '/1001/license', { key: 'sk_canary_unknown_key' })
  expect([unknown.status, unknown.json.code]).toEqual([400, 'license_invalid'])
  expect(unknown.json.data).toEqual({ status: 400, provider_code: 'invalid_license_key' })
  await call('POST', '/1001/license', { key: server.issue(1001) })
  const before = await host.snapshot()
  for (const status of [429, 503]) {
    server.fault = (request, response) => (request.method === 'GET' ? false : ends(status)(request, response))
    for (const [method, json] of [['POST', { key: server.issue(1001) }], ['DELETE']] as const) {
      const answer = await call(method, '/1001/license', json)
      const expected = [400, 'provider_unavailable', { status: 400, retryable: true }]
      expect([answer.status, answer.json.code, answer.json.data], method).toEqual(expected)
    }
  }
  expect(await host.snapshot()).toEqual(before)
  await server.close()
})
