import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FreemiusLicensingOptions } from '../../../src/licensing.ts'
import { assertHidden, SITE } from '../../../src/testing/licensing-case.ts'
import { listen } from '../../support/listen.ts'
import {
  API_TOKEN,
  BACKEND_SECRETS,
  errorBody,
  type Fault,
  type FreemiusServer,
  failure,
  json,
  plugin,
  providerOf,
  sendJson,
  startFreemius,
} from './freemius-server.ts'

let server: FreemiusServer
beforeEach(async () => {
  server = await startFreemius()
})
afterEach(() => server.close())

const make = (more: Partial<FreemiusLicensingOptions> = {}) => providerOf(server, more)
const call = { productId: 1001, site: SITE }
const activated = () => make().activate({ ...call, key: server.issue(1001) })

describe('the catalogue', () => {
  it('is asked for with the API token, and read as it is described', async () => {
    const [first, , third] = await make({ homepages: { 1003: 'https://example.test/export' } }).listAddons({})
    expect(server.requests).toMatchObject([
      {
        method: 'GET',
        url: '/v1/products/99/addons.json?enriched=true&show_pending=false&count=50&offset=0',
        headers: { authorization: `Bearer ${API_TOKEN}`, accept: 'application/json' },
      },
    ])
    expect(first).toEqual({
      id: 1001,
      slug: 'addon-1001',
      title: 'Add-on 1001',
      is_premium: true,
      icon: 'https://img.example.test/1001.png',
      link: 'https://checkout.freemius.com/plugin/1001',
      description: 'Words on 1001',
      homepage: 'https://checkout.freemius.com/plugin/1001',
      banner: 'https://img.example.test/1001-card.png',
      banner_large: 'https://img.example.test/1001-large.png',
      raw: expect.objectContaining({ id: '1001', parent_plugin_id: '99', public_key: 'pk_1001' }),
    })
    const bare = { icon: null, is_premium: false, description: '', banner: '', banner_large: '' }
    expect(third).toMatchObject({ ...bare, homepage: 'https://example.test/export' })
    expect(first?.raw).not.toHaveProperty('secret_key')
  })

  it('is asked for with a signature, and the first form that is taken is kept', async () => {
    const open = make({ apiToken: undefined, publicKey: 'pk_test' })
    expect(await open.listAddons({})).toHaveLength(3)
    server.fault = ({ headers }, response) =>
      /:[\w-]{86}$/.test(headers.authorization ?? '') ? false : sendJson(response, 401, errorBody(401, 'unauthorized'))
    for (let list = 0; list < 2; list++) expect((await failure(open.listAddons({}))).code).toBe('provider_rejected')
    const signing = make({ apiToken: undefined, publicKey: 'pk_test', secretKey: 'sk_test' })
    for (let list = 0; list < 2; list++) expect(await signing.listAddons({})).toHaveLength(3)
    expect(server.requests[0]?.url).toMatch(/^\/v1\/plugins\/99\/addons\.json\?enriched=true/)
    const forms = server.requests.map(({ headers }) =>
      (headers.authorization ?? '').replace(/^(FSP?) .*:([\w-]+)$/, (_all, scheme, text) => `${scheme} ${text.length}`),
    )
    expect(forms).toEqual(['FSP 43', 'FSP 43', 'FSP 43', 'FS 43', 'FS 86', 'FS 86'])
  })

  it('comes in pages of 50, ends where a page is given again, and has no add-on twice', async () => {
    const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
    server.plugins.splice(0, 3, ...upTo(120).map((id) => plugin(id)))
    expect((await make().listAddons({})).map(({ id }) => id)).toEqual(upTo(120))
    expect(server.requests.splice(0).map(({ url }) => url.split('offset=')[1])).toEqual(['0', '50', '100'])
    server.fault = json(200, { plugins: [...upTo(49), 1].map((id) => plugin(id)) })
    expect((await make().listAddons({})).map(({ id }) => id)).toEqual(upTo(49))
    expect(server.requests).toHaveLength(2)
  })

  it('is not made of an answer of another shape', async () => {
    const ids = ['9223372036854775807', '0', '1e3', [7], true]
    const answers = ['x', null, {}, { addons: {} }, { addons: [{ slug: 'x' }] }, { plugins: [null] }]
    for (const answer of [...answers, ...ids.map((id) => ({ addons: [plugin(1, { id })] }))]) {
      server.fault = json(200, answer)
      const expected = { code: 'provider_bad_response', retryable: false }
      expect(await failure(make().listAddons({})), JSON.stringify(answer)).toMatchObject(expected)
    }
  })
})

describe('activation and deactivation', () => {
  it('send what the interface describes, and nothing that says who the product is', async () => {
    const key = server.issue(1001)
    const activation = await make().activate({ ...call, key })
    expect(activation).toMatchObject({ key, installId: expect.stringMatching(/^\d+$/), plan: 'professional' })
    await make().activate({ ...call, key, previous: activation })
    await make().deactivate({ ...call, activation })
    const { url, title, version, uid } = SITE
    const sent = { uid, license_key: key, url, title, version }
    const install_id = Number(activation.installId)
    const path = '/v1/products/1001/licenses'
    expect(server.requests.map((request) => [request.method, request.url, request.body])).toEqual([
      ['POST', `${path}/activate.json`, sent],
      ['POST', `${path}/activate.json`, { ...sent, install_id }],
      ['POST', `${path}/deactivate.json`, { uid, install_id, license_key: key }],
    ])
    for (const { headers } of server.requests) {
      expect([headers.authorization, headers['content-type']]).toEqual([undefined, 'application/json'])
    }
  })

  it('give each refusal of the backend its code, and no key', async () => {
    const activation = await activated()
    for (const [status, providerCode, code] of [
      [400, 'invalid_license_key', 'license_invalid'],
      [400, 'license_expired', 'license_expired'],
      [400, 'license_utilized', 'license_quota_reached'],
      [400, 'license_activated', 'license_already_active'],
      [400, 'license_error', 'provider_rejected'],
      [402, 'payment_required', 'license_missing'],
      [404, 'resource_not_found', 'license_missing'],
      [403, 'constructor', 'provider_rejected'],
    ] as const) {
      server.requests.length = 0
      server.fault = (_request, response) =>
        sendJson(response, status, errorBody(status, providerCode, server.requests.at(-1)?.body))
      const error = await failure(make().activate({ ...call, key: 'sk_canary_key' }))
      expect(error).toMatchObject({ code, providerCode, httpStatus: status, retryable: false })
      assertHidden(error, ['sk_canary_key'])
      expect(server.requests, providerCode).toHaveLength(1)
    }
    server.fault = json(402, errorBody(402, 'payment_required'))
    expect((await failure(make().deactivate({ ...call, activation }))).code).toBe('license_missing')
    server.fault = json(400, errorBody(400, 'Refused: sk_canary_key'))
    const echo = await failure(make().activate({ ...call, key: 'sk_canary_key' }))
    expect([echo.code, echo.providerCode]).toEqual(['provider_rejected', undefined])
    server.fault = json(400, errorBody(400, 'license_activated'))
    const again = await make().activate({ ...call, key: activation.key, previous: activation })
    expect(again, 'an installation that is known').toMatchObject({ installId: activation.installId })
  })

  it('need an installation in the answer, also one that no number of JavaScript can hold', async () => {
    const known = await activated()
    for (const answer of [{ plugin_id: '1001' }, { install_id: 'x1' }, { install_id: 0 }, [], null]) {
      server.fault = json(200, answer)
      const made = [make().activate({ ...call, key: 'sk_key' }), make().deactivate({ ...call, activation: known })]
      const codes = (await Promise.all(made.map(failure))).map(({ code }) => code)
      expect(codes, JSON.stringify(answer)).toEqual(Array(2).fill('provider_bad_response'))
    }
    const id = '9223372036854775807'
    server.fault = json(200, { id, install_id: id, license_plan_name: null })
    const activation = await make().activate({ ...call, key: 'sk_key' })
    expect(activation).toMatchObject({ installId: id, plan: null })
    await make().deactivate({ ...call, activation })
    expect(server.requests.at(-1)?.body.install_id).toBe(id)
  })
})

it('validation reads the state of a license, and is left out unless asked for: it sends keys in addresses', async () => {
  expect(make().validate).toBeUndefined()
  const activation = await activated()
  const flags = { is_cancelled: false, is_block_features: true }
  const license = { plugin_id: '1001', quota: 5, activated: 2, expiration: '2026-01-02 03:04:05', ...flags }
  const expiresAt = '2026-01-02T03:04:05.000Z'
  for (const [change, expected] of [
    [{}, { active: false, reason: 'license_expired', expiresAt, quota: 5, used: 2 }],
    [
      { is_block_features: false, quota: null },
      { active: true, expiresAt, quota: null },
    ],
    [{ plugin_id: '1002' }, { active: false, reason: 'license_wrong_product' }],
    [{ quota: 'many' }, { code: 'provider_bad_response' }],
    [{ expiration: 'soon' }, { code: 'provider_bad_response' }],
    [{ plugin_id: undefined, quota: undefined }, { code: 'provider_bad_response' }],
  ] as const) {
    server.fault = json(200, { ...license, ...change })
    const call = make({ validate: true }).validate?.({ productId: 1001, site: SITE, activation })
    expect(await call?.catch((error) => error), JSON.stringify(change)).toMatchObject(expected)
  }
})

const answers =
  (status: number, body?: string, length?: number): Fault =>
  (_request, response) => {
    response.writeHead(status, length ? { 'content-length': length } : {})
    if (length) response.write(body)
    else response.end(body)
  }
const resets: Fault = (_request, response) => response.socket?.resetAndDestroy()
const sendsWithoutEnd: Fault = (_request, response) => {
  const more = () => {
    if (!response.destroyed && response.write(' '.repeat(64 * 1024))) setImmediate(more)
  }
  response.on('drain', more)
  more()
}
const DEEP = `{"addons":[{"id":1,"info":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`

describe('a backend that', () => {
  it.each<[string, Fault, string, number]>([
    ['says nothing', () => {}, 'provider_unavailable', 1],
    ['stops in the middle', answers(200, '{"addons":[', 100), 'provider_unavailable', 1],
    ['resets the connection', resets, 'provider_unavailable', 3],
    ['sends 10 MB', answers(200, `{"addons":"${'x'.repeat(10_000_000)}"}`), 'provider_bad_response', 1],
    ['sends without end', sendsWithoutEnd, 'provider_bad_response', 1],
    ['answers HTML with 200', answers(200, '<h1>Sign in</h1>'), 'provider_bad_response', 1],
    ['nests without end', answers(200, DEEP), 'provider_bad_response', 1],
    ['answers 400 without a code', json(400, { message: 'no' }), 'provider_bad_response', 1],
    ['answers 429', json(429, {}), 'provider_unavailable', 1],
    ['answers 503 as HTML', answers(503, '<h1>Down</h1>'), 'provider_unavailable', 3],
  ])('%s', async (what, fault, code, attempts) => {
    const activation = await activated()
    server.fault = fault
    server.requests.length = 0
    const provider = make({ timeoutMs: /nothing$|stops/.test(what) ? 300 : 10_000 })
    const key = 'sk_canary_of_a_fault'
    for (const [made, expected] of [
      [() => provider.listAddons({}), attempts],
      // Whether a change has happened nobody knows: it is not made twice.
      [() => provider.activate({ ...call, key }), 1],
      [() => provider.deactivate({ ...call, activation }), 1],
    ] as const) {
      const error = await failure(made())
      expect([error.code, error.retryable]).toEqual([code, code === 'provider_unavailable'])
      assertHidden(error, [key, activation.key, API_TOKEN, ...BACKEND_SECRETS])
      expect(server.requests.splice(0)).toHaveLength(expected)
    }
  })

  it('comes round between two attempts has answered', async () => {
    let failed = 0
    server.fault = (request, response) => (failed++ < 2 ? json(500, {})(request, response) : false)
    expect(await make().listAddons({})).toHaveLength(3)
  })

  it('redirects is not followed by a GET or a change, and the key goes nowhere else, whatever fetch is used', async () => {
    const elsewhere: string[] = []
    const other = await listen((request, response) => {
      elsewhere.push(String(request.url))
      response.end(JSON.stringify({ addons: [], install_id: '1', id: '1' }))
    })
    const asked: [string, RequestInit | undefined][] = []
    const own: typeof fetch = async (input, init) => {
      asked.push([String(input), init])
      return fetch(input, init)
    }
    const activation = await activated()
    const provider = make({ fetch: own, validate: true })
    for (const status of [301, 302, 303, 307, 308]) {
      const headers = { location: `${other}/` }
      server.fault = (_request, response) => response.writeHead(status, headers).end('{"addons":[]}')
      const made = [
        provider.listAddons({}),
        provider.activate({ ...call, key: 'sk_canary' }),
        provider.deactivate({ ...call, activation }),
        Promise.resolve(provider.validate?.({ ...call, activation: { ...activation, installId: '../../evil?x=' } })),
      ]
      const codes = (await Promise.all(made.map(failure))).map(({ code }) => code)
      expect(codes, String(status)).toEqual(Array(4).fill('provider_bad_response'))
    }
    expect([elsewhere, asked.length]).toEqual([[], 20])
    for (const [url, init] of asked) {
      expect([url.startsWith(`${server.baseUrl}/v1/products/`), init?.redirect], url).toEqual([true, 'error'])
    }
    const followed: typeof fetch = async () =>
      Object.defineProperty(new Response('{"addons":[]}'), 'redirected', { value: true })
    expect((await failure(make({ fetch: followed }).listAddons({}))).code).toBe('provider_bad_response')
  })
})
