import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { VERSION } from '../../../src/constants.ts'
import type { FreemiusLicensingOptions } from '../../../src/licensing.ts'
import { assertHidden } from '../../../src/testing/licensing-case.ts'
import { failure, json, providerOf, SITE } from './freemius-client.ts'
import { API_TOKEN, errorBody, type FreemiusServer, plugin, sendJson, startFreemius } from './freemius-server.ts'

let server: FreemiusServer
beforeEach(async () => {
  server = await startFreemius()
})
afterEach(() => server.close())

const make = (more: Partial<FreemiusLicensingOptions> = {}) => providerOf(server, more)

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
    server.listName = 'plugins'
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

  it('is not made of an answer of another shape', async () => {
    const ids = ['9223372036854775807', '0', '1e3', [7], true]
    const answers = [
      ...['x', null, {}, { addons: {} }, { addons: [{ slug: 'x' }] }, { plugins: [null] }],
      ...ids.map((id) => ({ addons: [plugin(1, { id })] })),
    ]
    for (const answer of answers) {
      server.fault = json(200, answer)
      const expected = { code: 'provider_bad_response', retryable: false }
      expect(await failure(make().listAddons({})), JSON.stringify(answer)).toMatchObject(expected)
    }
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

  it('give each refusal of the backend its code, and no key', async () => {
    const activation = await make().activate({ productId: 1001, key: server.issue(1001), site: SITE })
    for (const [status, providerCode, code] of [
      [400, 'invalid_license_key', 'license_invalid'],
      [400, 'license_expired', 'license_expired'],
      [400, 'license_utilized', 'license_quota_reached'],
      [400, 'license_activated', 'license_already_active'],
      [400, 'license_error', 'provider_rejected'],
      [401, 'unauthorized_access', 'provider_rejected'],
      [402, 'payment_required', 'license_missing'],
      [404, 'resource_not_found', 'license_missing'],
      [403, 'constructor', 'provider_rejected'],
    ] as const) {
      server.requests.length = 0
      server.fault = (_request, response) =>
        sendJson(response, status, errorBody(status, providerCode, server.requests.at(-1)?.body))
      const error = await failure(make().activate({ productId: 1001, key: 'sk_canary_key', site: SITE }))
      expect(error).toMatchObject({ code, providerCode, httpStatus: status, retryable: false })
      assertHidden(error, ['sk_canary_key'])
      expect(server.requests, providerCode).toHaveLength(1)
    }
    server.fault = json(402, errorBody(402, 'payment_required'))
    const unpaid = await failure(make().deactivate({ productId: 1001, activation, site: SITE }))
    expect(unpaid.code).toBe('license_missing')
    server.fault = json(400, errorBody(400, 'Refused: sk_canary_key'))
    const echo = await failure(make().activate({ productId: 1001, key: 'sk_canary_key', site: SITE }))
    expect([echo.code, echo.providerCode]).toEqual(['provider_rejected', undefined])
  })

  it('license_activated is a success where the installation is known', async () => {
    const key = server.issue(1001)
    const previous = await make().activate({ productId: 1001, key, site: SITE })
    server.fault = json(400, errorBody(400, 'license_activated'))
    const again = await make().activate({ productId: 1001, key, site: SITE, previous })
    expect(again).toMatchObject({ key, installId: previous.installId, plan: previous.plan })
  })

  it('are no success where the answer has no installation', async () => {
    const activation = await make().activate({ productId: 1001, key: server.issue(1001), site: SITE })
    const call = { productId: 1001, site: SITE }
    for (const answer of [{ plugin_id: '1001' }, { install_id: 'x1' }, { install_id: 0 }, [], null]) {
      server.fault = json(200, answer)
      const what = JSON.stringify(answer)
      expect((await failure(make().activate({ ...call, key: 'sk_key' }))).code, what).toBe('provider_bad_response')
      expect((await failure(make().deactivate({ ...call, activation }))).code, what).toBe('provider_bad_response')
    }
  })

  it('keeps an installation id that no number of JavaScript can hold', async () => {
    server.fault = json(200, { install_id: '9223372036854775807', license_plan_name: null })
    const activation = await make().activate({ productId: 1001, key: 'sk_key', site: SITE })
    expect(activation).toMatchObject({ installId: '9223372036854775807', plan: null })
    server.fault = json(200, { id: '9223372036854775807' })
    await make().deactivate({ productId: 1001, activation, site: SITE })
    expect(server.requests.at(-1)?.body.install_id).toBe('9223372036854775807')
  })
})

describe('validation', () => {
  const state = async (answer: unknown) => {
    server.fault = undefined
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

  it('reads what the backend says of a license, and makes no sense of anything else', async () => {
    const past = { expiration: '2026-01-02 03:04:05' }
    const [good, used] = [{ active: true, expiresAt: null, quota: 5 }, { used: 2 }]
    const expired = { ...good, expiresAt: '2026-01-02T03:04:05.000Z' }
    for (const [change, expected] of [
      [{}, good],
      [
        { quota: null, expiration: '2099-01-02 03:04:05' },
        { ...good, quota: null, expiresAt: '2099-01-02T03:04:05.000Z' },
      ],
      [past, { ...expired, active: false, reason: 'license_expired' }],
      [{ ...past, is_block_features: false }, expired],
      [{ is_cancelled: true }, { ...good, active: false, reason: 'license_revoked' }],
      [{ plugin_id: '1002' }, { ...good, active: false, reason: 'license_wrong_product' }],
    ] as const) {
      expect(await state({ ...license, ...change }), JSON.stringify(change)).toEqual({ ...expected, ...used })
    }
    for (const answer of [{ ...license, quota: 'many' }, { ...license, expiration: 'soon' }, {}, null]) {
      const error = await failure(state(answer) as Promise<unknown>)
      expect(error.code, JSON.stringify(answer)).toBe('provider_bad_response')
    }
  })
})
