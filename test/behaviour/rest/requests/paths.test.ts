import { describe, expect, it } from 'vitest'
import { forThisFile } from '../../../support/for-this-file.ts'
import { rawRequest } from '../../../support/raw-request.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { LICENSE_KEY } from '../../../support/rest-licensing.ts'
import { wholeSettings } from '../../../support/whole-settings.ts'

const SETTINGS = '/sessmgr/v1/settings'
const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 9, logic: 'logout_oldest' } } }))
const admin = forThisFile(() => host.signIn('admin'))
const call = (method: string, path: string, headers: object = admin.headers, json?: object) =>
  host.call(method, path, { headers: { ...headers }, json })

describe('rule 20: what is not there', () => {
  it('is 405 for a method that a path does not know, with those that it knows', async () => {
    const before = await host.snapshot()
    for (const [path, allow] of [
      [SETTINGS, 'GET, HEAD, POST, PUT, PATCH, DELETE'],
      ['/sessmgr/v1/sessions/destroy-all', 'POST'],
      ['/sessmgr/v1/application-passwords', 'GET, HEAD, POST'],
    ] as const) {
      const methods = ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE']
      for (const method of methods.filter((name) => !allow.split(', ').includes(name))) {
        const answer = await call(method, path, {})
        expect([answer.status, answer.headers.allow], `${method} ${path}`).toEqual([405, allow])
        if (method !== 'HEAD') expect(answer.json.code).toBe('rest_method_not_allowed')
      }
    }
    expect(await host.snapshot()).toEqual(before)
  })

  it('answers HEAD like GET, without a body', async () => {
    const [get, head] = [await call('GET', SETTINGS), await call('HEAD', SETTINGS)]
    expect([head.status, head.text]).toEqual([200, ''])
    const { date: _one, 'transfer-encoding': _ofGet, ...ofGet } = get.headers
    const { date: _two, 'transfer-encoding': _ofHead, ...ofHead } = head.headers
    expect(ofHead).toEqual(ofGet)
    expect((await call('HEAD', SETTINGS, {})).status).toBe(401)
  })

  it('is 404 rest_no_route below its own paths, and left to the application elsewhere', async () => {
    for (const path of [
      '/sessmgr/v1',
      '/sessmgr/v1/nothing',
      `${SETTINGS}//`,
      '/wp/v2/settings/sessmgr_settings/maximum/x',
      '/sessmgr/v1/constructor',
      '/lazycomments/v1/nothing',
    ]) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const answer = await call(method, path)
        expect([answer.status, answer.json.code], `${method} ${path}`).toEqual([404, 'rest_no_route'])
      }
    }
    for (const path of ['/hello', '/sessmgr/v2/settings', '/sessmgr', '/sessmgr/v1x/settings', '/']) {
      const { status, headers } = await call('GET', path)
      expect([status, headers['content-type']], path).toEqual([
        path === '/hello' ? 200 : 404,
        expect.stringMatching(/^text\/html/),
      ])
    }
  })
})

it('no other spelling of a path gets past the checks, and no header makes another request of it', async () => {
  const alice = await host.signIn('alice')
  const before = await host.snapshot()
  const raw = (method: string, path: string, headers: object, more: readonly string[] = []) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    const head = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Content-Type: application/json']
    return rawRequest(host.origin, [...head, ...lines, ...more], '{"maximum":77}')
  }
  const spellings = [
    ...'/ // /. /.. /%2e /x/.. ; ;a=b .json %20 %00 %0d%0aX:%20y %23 %3f ? # /#/ ?_method=POST % %zz'
      .split(' ')
      .map((ending) => `/api${SETTINGS}${ending}`),
    ...'/API /api/hello/.. /api/../api /%c0%ae%c0%ae/api //127.0.0.1/api /api/api api //api http://evil.example/api'
      .split(' ')
      .map((start) => start + SETTINGS),
    ...'// /./ /x/../ /%2e/ /x/%2e%2e/ /..;/ /\\ %2f %5c /;a=b/ %c0%af'
      .split(' ')
      .map((separator) => `/api/sessmgr/v1${separator}settings`),
    ...['/api/sessmgr/v1/SETTINGS', '/api/sessmgr/v1/%73ettings', '/api/sessmgr/v1/%2573ettings'],
  ]
  const names = 'X-HTTP-Method-Override X-HTTP-Method X-Method-Override X-Original-Method'.split(' ')
  const overrides = [...names.map((name) => `${name}: PUT`), 'X-Original-URL: /hello', 'X-Rewrite-URL: /hello']
  const identities = ['X-Remote-User: admin', 'X-Forwarded-User: admin', 'X-Forwarded-For: 127.0.0.1']
  for (const headers of [alice.headers, { cookie: admin.cookie }]) {
    for (const path of spellings) {
      expect([400, 401, 403, 404, 405], path).toContain((await raw('PUT', path, headers))[0])
    }
    for (const header of [...overrides, ...identities]) {
      expect([401, 403], header).toContain((await raw('PUT', `/api${SETTINGS}`, headers, [header]))[0])
    }
  }
  // Not even for somebody who may: a GET stays a GET.
  for (const header of overrides) await raw('GET', `/api${SETTINGS}?_method=PUT&maximum=9`, admin.headers, [header])
  expect(await host.snapshot()).toEqual(before)
})

describe('rule 64: what the clients of WordPress send', () => {
  it('may have a slash at the end of its path', async () => {
    for (const [path, query] of [
      [SETTINGS, ''],
      ['/sessmgr/v1/sessions', '?user=alice'],
      ['/sessmgr/v1/openapi.json', ''],
    ]) {
      const [one, other] = [await call('GET', `${path}${query}`), await call('GET', `${path}/${query}`)]
      expect([other.status, other.text], path).toEqual([200, one.text])
    }
  })

  it('names its method in a header or in the query of a POST, also beside a key in the body', async () => {
    const license = '/sessmgr/v1/addons/1001/license'
    const json = { key: LICENSE_KEY }
    const remove = { ...admin.headers, 'x-http-method-override': 'DELETE' }
    for (const [path, headers] of [
      [license, remove],
      [`${license}?_method=delete`, admin.headers],
    ] as const) {
      expect((await call('POST', license, admin.headers, json)).json.is_license_active).toBe(true)
      const given = path === license ? json : {}
      expect((await call('POST', path, headers, given)).json.is_license_active, path).toBe(false)
    }
  })

  it('passes every check of that method, and no other method becomes another one', async () => {
    await call('POST', SETTINGS, admin.headers, { logic: 'block', maximum: 3 })
    const override = { 'x-http-method-override': 'DELETE' }
    const { cookie } = admin
    for (const [status, carried] of [
      [401, {}],
      [401, { cookie }],
      [403, { cookie, 'x-host-nonce': 'A'.repeat(32) }],
      [403, { ...admin.headers, 'sec-fetch-site': 'cross-site' }],
    ] as const) {
      expect((await call('POST', SETTINGS, { ...carried, ...override })).status).toBe(status)
    }
    const headers = { ...admin.headers, ...override }
    expect((await call('GET', SETTINGS, headers)).json).toEqual(wholeSettings({ logic: 'block', maximum: 3 }))
    expect((await call('PATCH', SETTINGS, headers, { logic: 'allow' })).status).toBe(200)
    expect((await host.registry.options.get('sessmgr_settings'))?.value).toEqual({ logic: 'allow', maximum: 3 })
  })
})
