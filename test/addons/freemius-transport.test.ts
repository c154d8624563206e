import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { signedHeaders } from '../../src/addons/freemius/signed-headers.ts'
import { VERSION } from '../../src/index.ts'
import { type FreemiusLicensingOptions, freemiusLicensing, LicensingError } from '../../src/licensing.ts'
import { assertHidden } from '../../src/testing/licensing-case.ts'
import { listen } from '../support/listen.ts'
import {
  API_TOKEN,
  BACKEND_SECRETS,
  errorBody,
  type Fault,
  type FreemiusServer,
  PARENT,
  plugin,
  sendJson,
  startFreemius,
} from './freemius-server.ts'

const SITE = { uid: '0123456789abcdef'.repeat(2), url: 'https://shop.example.test', title: 'Shop', version: VERSION }

let server: FreemiusServer
beforeEach(async () => {
  server = await startFreemius()
})
afterEach(() => server.close())

const make = (more: Partial<FreemiusLicensingOptions> = {}) =>
  freemiusLicensing({ productId: PARENT, apiToken: API_TOKEN, baseUrl: server.baseUrl, ...more })
const failure = (call: Promise<unknown>): Promise<LicensingError> =>
  call.then(
    () => expect.unreachable('the call succeeded'),
    (error) => {
      expect(error).toBeInstanceOf(LicensingError)
      return error
    },
  )
const json =
  (status: number, body: unknown): Fault =>
  (_request, response) =>
    sendJson(response, status, body)

describe('the catalogue', () => {
  it('is asked for with the API token, once', async () => {
    await make().listAddons({})
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]).toMatchObject({
      method: 'GET',
      url: '/v1/products/99/addons.json?enriched=true&show_pending=false&count=50&offset=0',
      headers: { authorization: `Bearer ${API_TOKEN}`, accept: 'application/json' },
    })
  })

  it('is asked for with a signature, and the first form that is taken is kept', async () => {
    const provider = make({ apiToken: undefined, publicKey: 'pk_test' })
    await provider.listAddons({})
    expect(server.requests[0]?.url).toMatch(/^\/v1\/plugins\/99\/addons\.json\?enriched=true/)
    const { authorization, date } = server.requests[0]?.headers ?? {}
    expect(authorization).toMatch(/^FSP 99:pk_test:[\w-]{43}$/)
    expect(date).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/)
    server.requests.length = 0
    server.fault = ({ headers }, response) =>
      /:[\w-]{86}$/.test(headers.authorization ?? '') ? false : sendJson(response, 401, errorBody(401, 'unauthorized'))
    for (let list = 0; list < 2; list++)
      expect(await provider.listAddons({}).catch(({ code }) => code)).toBe('provider_rejected')
    const other = make({ apiToken: undefined, publicKey: 'pk_test', secretKey: 'sk_test' })
    for (let list = 0; list < 2; list++) expect(await other.listAddons({})).toHaveLength(3)
    const forms = server.requests.map(({ headers }) =>
      (headers.authorization ?? '').replace(/^(FSP?) .*:([\w-]+)$/, (_all, scheme, text) => `${scheme} ${text.length}`),
    )
    expect(forms).toEqual(['FSP 43', 'FSP 43', 'FS 43', 'FS 86', 'FS 86'])
  })

  it('is read as it is described', async () => {
    const [first, , third] = await make({ homepages: { 1003: 'https://example.test/export' } }).listAddons({})
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
    expect(third).toMatchObject({
      icon: null,
      is_premium: false,
      description: '',
      banner: '',
      banner_large: '',
      homepage: 'https://example.test/export',
    })
    expect(first?.raw).not.toHaveProperty('secret_key')
  })

  it('comes in pages of 50', async () => {
    server.plugins.splice(0, 3, ...Array.from({ length: 120 }, (_, index) => plugin(index + 1)))
    const ids = (await make().listAddons({})).map(({ id }) => id)
    expect(ids).toEqual(Array.from({ length: 120 }, (_, index) => index + 1))
    expect(server.requests.map(({ url }) => url.split('offset=')[1])).toEqual(['0', '50', '100'])
  })

  it('ends where a backend gives the same page again, and has no add-on twice', async () => {
    const page = Array.from({ length: 50 }, (_, index) => plugin((index % 49) + 1))
    server.fault = json(200, { addons: page })
    const ids = (await make().listAddons({})).map(({ id }) => id)
    expect(ids).toEqual(Array.from({ length: 49 }, (_, index) => index + 1))
    expect(server.requests).toHaveLength(2)
  })

  it('is not made of what nests without end', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    server.fault = (_request, response) => response.end(`{"addons":[{"id":1,"info":${deep}}]}`)
    expect(await failure(make().listAddons({}))).toMatchObject({ code: 'provider_bad_response' })
  })

  it.each<[string, unknown]>([
    ['a text', 'x'],
    ['null', null],
    ['an empty object', {}],
    ['a list that is none', { addons: {} }],
    ['an add-on without id', { addons: [{ slug: 'x' }] }],
    ['an id that is too large', { addons: [plugin(1, { id: '9223372036854775807' })] }],
    ['an id of zero', { addons: [plugin(0)] }],
    ['an id that is no plain number', { addons: [plugin(1, { id: '1e3' })] }],
    ['an id that is a list', { addons: [plugin(1, { id: [7] })] }],
    ['an id that is true', { addons: [plugin(1, { id: true })] }],
    ['an add-on that is null', { plugins: [null] }],
  ])('is not made of %s', async (_what, answer) => {
    server.fault = json(200, answer)
    expect(await failure(make().listAddons({}))).toMatchObject({ code: 'provider_bad_response', retryable: false })
  })
})

describe('activation and deactivation', () => {
  it('send what the interface describes, and nothing that says who the product is', async () => {
    const key = server.issue(1001)
    const provider = make()
    const activation = await provider.activate({ productId: 1001, key, site: SITE })
    expect(activation).toEqual({
      productId: 1001,
      key,
      uid: SITE.uid,
      installId: expect.stringMatching(/^\d+$/),
      plan: 'professional',
      activatedAt: expect.any(String),
      expiresAt: null,
    })
    await provider.activate({ productId: 1001, key, site: SITE, previous: activation })
    await provider.deactivate({ productId: 1001, activation, site: SITE })
    const installId = Number(activation.installId)
    const sent = { uid: SITE.uid, license_key: key, url: SITE.url, title: 'Shop', version: VERSION }
    expect(server.requests.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/v1/products/1001/licenses/activate.json', sent],
      ['POST', '/v1/products/1001/licenses/activate.json', { ...sent, install_id: installId }],
      [
        'POST',
        '/v1/products/1001/licenses/deactivate.json',
        { uid: SITE.uid, install_id: installId, license_key: key },
      ],
    ])
    for (const { headers, url } of server.requests) {
      expect(headers.authorization).toBeUndefined()
      expect(headers['content-type']).toBe('application/json')
      expect(url).not.toContain(key)
    }
  })

  it.each<[number, string, string]>([
    [400, 'invalid_license_key', 'license_invalid'],
    [400, 'license_expired', 'license_expired'],
    [400, 'license_utilized', 'license_quota_reached'],
    [400, 'license_activated', 'license_already_active'],
    [400, 'license_error', 'provider_rejected'],
    [400, 'something_new', 'provider_rejected'],
    [401, 'unauthorized_access', 'provider_rejected'],
    [402, 'payment_required', 'license_missing'],
    [404, 'resource_not_found', 'license_missing'],
    [403, 'constructor', 'provider_rejected'],
  ])('%i %s is %s', async (status, providerCode, code) => {
    server.fault = (_request, response) =>
      sendJson(response, status, errorBody(status, providerCode, server.requests.at(-1)?.body))
    const error = await failure(make().activate({ productId: 1001, key: 'sk_canary_key', site: SITE }))
    expect(error).toMatchObject({ code, providerCode, httpStatus: status, retryable: false })
    assertHidden(error, ['sk_canary_key'])
    expect(server.requests).toHaveLength(1)
  })

  it('license_activated is a success where the installation is known', async () => {
    const key = server.issue(1001)
    const previous = await make().activate({ productId: 1001, key, site: SITE })
    server.fault = json(400, errorBody(400, 'license_activated'))
    const again = await make().activate({ productId: 1001, key, site: SITE, previous })
    expect(again).toMatchObject({ key, installId: previous.installId, plan: previous.plan })
  })

  it.each<[string, unknown]>([
    ['no installation', { plugin_id: '1001' }],
    ['an installation that is none', { install_id: 'x1' }],
    ['an installation 0', { install_id: 0 }],
    ['a list', []],
    ['null', null],
  ])('an answer with %s is no success', async (_what, answer) => {
    const activation = await make().activate({ productId: 1001, key: server.issue(1001), site: SITE })
    server.fault = json(200, answer)
    const call = { productId: 1001, site: SITE }
    expect((await failure(make().activate({ ...call, key: 'sk_canary_key' }))).code).toBe('provider_bad_response')
    expect((await failure(make().deactivate({ ...call, activation }))).code).toBe('provider_bad_response')
  })

  it('keeps an installation id that no number of JavaScript can hold', async () => {
    server.fault = json(200, { install_id: '9223372036854775807', license_plan_name: null })
    const activation = await make().activate({ productId: 1001, key: 'sk_key', site: SITE })
    expect(activation).toMatchObject({ installId: '9223372036854775807', plan: null })
    server.fault = json(200, { id: '9223372036854775807' })
    await make().deactivate({ productId: 1001, activation, site: SITE })
    expect(server.requests.at(-1)?.body.install_id).toBe('9223372036854775807')
  })

  it('a deactivation that payment stops is refused', async () => {
    const activation = await make().activate({ productId: 1001, key: server.issue(1001), site: SITE })
    server.fault = json(402, errorBody(402, 'payment_required'))
    const error = await failure(make().deactivate({ productId: 1001, activation, site: SITE }))
    expect(error.code).toBe('license_missing')
  })
})

describe('validation', () => {
  const state = async (answer: unknown) => {
    const activation = await make().activate({ productId: 1001, key: server.issue(1001), site: SITE })
    server.fault = json(200, answer)
    return make({ validate: true }).validate?.({ productId: 1001, activation, site: SITE })
  }
  const license = {
    plugin_id: '1001',
    quota: 5,
    activated: 2,
    expiration: null,
    is_cancelled: false,
    is_block_features: true,
  }

  it('is left out unless it is asked for, because it puts keys into addresses', () => {
    expect(make().validate).toBeUndefined()
  })

  it.each<[object, object]>([
    [{}, { active: true, expiresAt: null, quota: 5, used: 2 }],
    [
      { quota: null, expiration: '2099-01-02 03:04:05' },
      { active: true, expiresAt: '2099-01-02T03:04:05.000Z', quota: null, used: 2 },
    ],
    [
      { expiration: '2026-01-02 03:04:05' },
      { active: false, reason: 'license_expired', expiresAt: '2026-01-02T03:04:05.000Z', quota: 5, used: 2 },
    ],
    [
      { expiration: '2026-01-02 03:04:05', is_block_features: false },
      { active: true, expiresAt: '2026-01-02T03:04:05.000Z', quota: 5, used: 2 },
    ],
    [{ is_cancelled: true }, { active: false, reason: 'license_revoked', expiresAt: null, quota: 5, used: 2 }],
    [{ plugin_id: '1002' }, { active: false, reason: 'license_wrong_product', expiresAt: null, quota: 5, used: 2 }],
  ])('reads %j as %j', async (change, expected) => {
    expect(await state({ ...license, ...change })).toEqual(expected)
  })

  it.each([[{ ...license, quota: 'many' }], [{ ...license, expiration: 'soon' }], [{}], [null]])(
    'does not make sense of %j',
    async (answer) => {
      expect((await failure(state(answer) as Promise<unknown>)).code).toBe('provider_bad_response')
    },
  )
})

describe('faults', () => {
  const FAULTS: Record<string, { fault: Fault; code: string; attempts: number }> = {
    'says nothing': { fault: () => {}, code: 'provider_unavailable', attempts: 1 },
    'stops in the middle': {
      fault: (_request, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).write('{"addons":['),
      code: 'provider_unavailable',
      attempts: 1,
    },
    'resets the connection': {
      fault: (_request, response) => response.socket?.resetAndDestroy(),
      code: 'provider_unavailable',
      attempts: 3,
    },
    'resets it in the middle': {
      fault: (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"addons":[')
        setTimeout(() => response.socket?.resetAndDestroy(), 20)
      },
      code: 'provider_unavailable',
      attempts: 3,
    },
    'sends 10 MB': {
      fault: (_request, response) => response.writeHead(200).end(JSON.stringify({ addons: 'x'.repeat(10_000_000) })),
      code: 'provider_bad_response',
      attempts: 1,
    },
    'sends without end': {
      fault: (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const more = () => {
          if (!response.destroyed && response.write(' '.repeat(64 * 1024))) setImmediate(more)
        }
        response.on('drain', more)
        more()
      },
      code: 'provider_bad_response',
      attempts: 1,
    },
    'answers HTML with 200': {
      fault: (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>'),
      code: 'provider_bad_response',
      attempts: 1,
    },
    'answers nothing with 200': {
      fault: (_request, response) => response.writeHead(200).end(),
      code: 'provider_bad_response',
      attempts: 1,
    },
    'answers broken JSON': {
      fault: (_request, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"addons":[}'),
      code: 'provider_bad_response',
      attempts: 1,
    },
    'answers 400 without a code': { fault: json(400, { message: 'no' }), code: 'provider_bad_response', attempts: 1 },
    'answers 429': { fault: json(429, {}), code: 'provider_unavailable', attempts: 1 },
    'answers 500': { fault: json(500, errorBody(500, 'internal')), code: 'provider_unavailable', attempts: 3 },
    'answers 503 as HTML': {
      fault: (_request, response) => response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>Down</h1>'),
      code: 'provider_unavailable',
      attempts: 3,
    },
  }

  it.each(Object.entries(FAULTS))('a backend that %s', async (_what, { fault, code, attempts }) => {
    const activation = await make().activate({ productId: 1001, key: server.issue(1001), site: SITE })
    server.fault = fault
    server.requests.length = 0
    const provider = make({ timeoutMs: 1500 })
    const call = { productId: 1001, site: SITE }
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

  it('a backend that comes round between two attempts has answered', async () => {
    let failed = 0
    server.fault = (request, response) => (failed++ < 2 ? json(500, {})(request, response) : false)
    expect(await make().listAddons({})).toHaveLength(3)
    expect(server.requests).toHaveLength(3)
  })

  it('a backend that nobody listens at', async () => {
    const baseUrl = server.baseUrl
    await server.close()
    const error = await failure(make({ baseUrl }).listAddons({}))
    server = await startFreemius()
    expect(error).toMatchObject({
      code: 'provider_unavailable',
      message: 'The licensing provider cannot be reached (ECONNREFUSED).',
    })
  })

  it('ends within the time it has, all attempts together, 10 seconds unless another was said', async () => {
    server.fault = () => {}
    const began = performance.now()
    expect((await failure(make().listAddons({}))).code).toBe('provider_unavailable')
    const took = performance.now() - began
    expect(took).toBeGreaterThan(9_900)
    expect(took).toBeLessThan(30_000)
    expect(server.requests).toHaveLength(1)
  })

  it('no redirect is followed: not a GET, not a change, and the key goes nowhere else', async () => {
    const elsewhere: string[] = []
    const other = await listen((request, response) => {
      elsewhere.push(String(request.url))
      response.end(JSON.stringify({ addons: [], install_id: '1', id: '1' }))
    })
    const activation = await make().activate({ productId: 1001, key: server.issue(1001), site: SITE })
    const targets = [`${other}/`, 'http://169.254.169.254/latest/meta-data/']
    for (const location of targets) {
      for (const status of [301, 302, 303, 307, 308]) {
        server.fault = (_request, response) => response.writeHead(status, { location }).end('{"addons":[]}')
        for (const call of [
          () => make().listAddons({}),
          () => make().activate({ productId: 1001, key: 'sk_canary', site: SITE }),
          () => make().deactivate({ productId: 1001, activation, site: SITE }),
        ]) {
          expect((await failure(call())).code).toBe('provider_bad_response')
        }
      }
    }
    expect(elsewhere).toEqual([])
  })

  it('every request goes to the configured host, whatever fetch is used, and asks for no redirect', async () => {
    const asked: [string, RequestInit | undefined][] = []
    const own: typeof fetch = async (input, init) => {
      asked.push([String(input), init])
      return fetch(input, init)
    }
    const provider = make({ fetch: own, validate: true, baseUrl: `${server.baseUrl}/` })
    await provider.listAddons({})
    const key = server.issue(1001)
    const activation = await provider.activate({ productId: 1001, key, site: SITE })
    await provider.validate?.({ productId: 1001, activation, site: SITE })
    await provider
      .deactivate({ productId: 1001, activation: { ...activation, installId: '../../evil?x=' }, site: SITE })
      .catch(() => {})
    expect(asked).toHaveLength(4)
    for (const [url, init] of asked) {
      expect(new URL(url).origin).toBe(server.baseUrl)
      expect(init?.redirect).toBe('error')
      expect(init?.signal).toBeInstanceOf(AbortSignal)
    }
  })

  it('an own fetch that has followed a redirect all the same is not believed', async () => {
    const own: typeof fetch = async () =>
      Object.defineProperty(new Response('{"addons":[]}'), 'redirected', { value: true })
    expect((await failure(make({ fetch: own }).listAddons({}))).code).toBe('provider_bad_response')
  })
})

describe('signed headers', () => {
  const request = {
    method: 'GET',
    path: '/v1/plugins/1234/addons.json',
    date: new Date(Date.UTC(2026, 0, 1)),
    id: 1234,
    publicKey: 'pk_test',
    form: 'bytes',
  } as const

  it('are those of the published example', () => {
    expect(signedHeaders(request)).toEqual({
      Authorization: 'FSP 1234:pk_test:DKrGlyG3PfmokQRId7Cdrd6-unl1thdyFaWt1UzAxkc',
      Date: 'Thu, 01 Jan 2026 00:00:00 +0000',
    })
  })

  it('hold the digest as hexadecimal text where that is the form', () => {
    const bytes = Buffer.from('DKrGlyG3PfmokQRId7Cdrd6-unl1thdyFaWt1UzAxkc', 'base64url')
    const signature = Buffer.from(bytes.toString('hex')).toString('base64url')
    expect(signedHeaders({ ...request, form: 'hex' }).Authorization).toBe(`FSP 1234:pk_test:${signature}`)
  })

  it('sign the body, and with the secret key where there is one', () => {
    const headers = signedHeaders({ ...request, method: 'POST', body: '{}', secretKey: 'sk_test' })
    expect(headers).toEqual({
      Authorization: expect.stringMatching(/^FS 1234:pk_test:[\w-]{43}$/),
      Date: 'Thu, 01 Jan 2026 00:00:00 +0000',
      'Content-MD5': '99914b932bd37a50b983c5e7c90ae93b',
    })
    expect(headers.Authorization).not.toContain('sk_test')
  })
})
