import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { LICENSING_ID } from '../../../src/ground/constants.ts'
import { SessmgrError, sessmgr } from '../../../src/index.ts'
import { freemiusLicensing, issueLicense, offlineLicensing } from '../../../src/licensing.ts'
import { createVendor, OFFLINE_ADDONS } from './offline-vendor.ts'

const vendor = createVendor()
const SITE = { uid: '0'.repeat(32), url: 'https://example.test', version: '1' }
const SECRETS = ['canary secret', vendor.privateJwk.d as string]

function problemOf(make: () => unknown): string {
  try {
    make()
  } catch (error) {
    expect(error).toMatchObject({ name: 'SessmgrError', code: 'invalid_option' })
    const { message } = error as SessmgrError
    for (const secret of SECRETS) expect(message).not.toContain(secret)
    return message
  }
  return 'none'
}

/** Expects that each of these options is refused with its problem. */
function expectRefused(make: (options: never) => unknown, rows: readonly (readonly [unknown, RegExp | string])[]) {
  for (const [options, problem] of rows) {
    expect(
      problemOf(() => make(options as never)),
      JSON.stringify(options),
    ).toMatch(problem)
  }
}

it('offlineLicensing() refuses wrong options by name, and tells nothing of a private key', () => {
  const [first] = OFFLINE_ADDONS
  expectRefused(offlineLicensing, [
    [null, 'must be an object'],
    [{ catalog: [] }, /no option "catalog".* Did you mean "catalogue"\?/],
    [{ catalogue: 7 }, '"catalogue" must be an array'],
    [{ catalogue: [{ id: 1 }] }, '"catalogue" is wrong at 0.slug'],
    [{ catalogue: [{ ...first, id: 0 }] }, 'wrong at 0.id: it must be a product id'],
    [{ catalogue: [{ ...first, title: '' }] }, 'wrong at 0.title: it must not be empty'],
    [{ catalogue: [first, first] }, 'must not have duplicate ids'],
    [{ catalogue: '/nowhere/addons.json' }, '"catalogue" cannot be read'],
    [{ keys: [] }, '"keys" must be an object'],
    [{ keys: { a: 'x' }, issuer: 'acme' }, '"keys.a" must be an Ed25519 public key'],
    [{ keys: { a: { kty: 'RSA', n: 'x', e: 'AQAB' } }, issuer: 'acme' }, '"keys.a" must be an Ed25519 public key'],
    [{ keys: { a: vendor.privatePem }, issuer: 'acme' }, '"keys.a" is a private key'],
    [{ keys: { a: vendor.privateJwk }, issuer: 'acme' }, '"keys.a" is a private key'],
    [{ keys: vendor.trust.keys }, '"keys" needs "issuer"'],
    [{ issuer: 7 }, '"issuer" must be a string'],
    [{ audience: '' }, '"audience" must not be empty'],
    [{ revocations: 7 }, '"revocations" must be'],
    [{ revocations: '' }, '"revocations" must be'],
    [{ revocationsMaxAgeDays: 0 }, '"revocationsMaxAgeDays" must be a whole number from 1 to 3650'],
    [{ clock: {} }, '"clock" must have'],
  ])
})

it('offlineLicensing() takes public keys as PEM and as JWK', async () => {
  const key = await vendor.issue(7)
  for (const one of [vendor.publicPem, vendor.publicJwk]) {
    const provider = offlineLicensing({ issuer: 'acme', keys: { [vendor.kid]: one } })
    expect(await provider.activate({ productId: 7, key, site: SITE })).toMatchObject({ key })
  }
})

it('offlineLicensing() reads a catalogue file anew each time, and says what is wrong with it then', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sessmgr-catalogue-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'addons.json')
  writeFileSync(file, JSON.stringify(OFFLINE_ADDONS))
  const provider = offlineLicensing({ catalogue: file })
  expect(await provider.listAddons({})).toHaveLength(3)
  writeFileSync(file, JSON.stringify(OFFLINE_ADDONS.slice(1)))
  expect(await provider.listAddons({})).toHaveLength(2)
  for (const [text, message] of [
    ['[', 'The catalogue file is not valid JSON.'],
    ['{}', 'The catalogue file must be an array.'],
    ['[{"id":"x"}]', 'The catalogue file is wrong at 0.id: it must be a product id, a positive integer.'],
  ] as const) {
    writeFileSync(file, text)
    await expect(provider.listAddons({})).rejects.toMatchObject({ code: 'provider_bad_response', message })
    expect(problemOf(() => offlineLicensing({ catalogue: file }))).toMatch(/^"catalogue" /)
  }
  rmSync(file)
  await expect(provider.listAddons({})).rejects.toMatchObject({ message: 'The catalogue file cannot be read.' })
})

it('freemiusLicensing() lists the add-ons of LICENSING_ID by default, and takes https, and http of this machine', () => {
  expect(freemiusLicensing({ apiToken: 'token' }).name).toBe(`freemius:${LICENSING_ID}`)
  const local = ['http://127.0.0.1:9', 'http://localhost', 'http://[::1]:9']
  for (const baseUrl of ['https://api.test:8443/licensing/', ...local]) {
    expect(freemiusLicensing({ apiToken: 'token', productId: 1, baseUrl }).name, baseUrl).toBe('freemius:1')
  }
  const good = { productId: 1, apiToken: 'token' }
  const urls = [
    'http://api.freemius.com',
    'ftp://127.0.0.1',
    'http://127.0.0.1.evil.test',
    'http://localhost.evil.test',
  ]
  expectRefused(freemiusLicensing, [
    [undefined, 'needs options'],
    [{ ...good, token: 'x' }, 'no option "token"'],
    [{ ...good, productId: null }, '"productId" must be'],
    [{ ...good, productId: '1' }, '"productId" must be'],
    [{ productId: 1 }, 'Pass either "apiToken", or "publicKey"'],
    [{ ...good, publicKey: 'pk' }, 'Pass either'],
    [{ ...good, secretKey: 'sk' }, 'Pass either'],
    [{ productId: 1, secretKey: 'sk' }, 'Pass either'],
    [{ ...good, apiToken: 'canary secret of the provider' }, '"apiToken" must be a string without spaces'],
    [{ ...good, apiToken: 'a\r\nX-Evil: 1' }, '"apiToken" must be'],
    [{ ...good, apiToken: '' }, '"apiToken" must be'],
    ...[...urls, 'https://user:pass@api.test', 'https://api.test/?x=1', '/v1'].map(
      (baseUrl) => [{ ...good, baseUrl }, '"baseUrl" must be'] as const,
    ),
    [{ ...good, checkoutUrl: 'javascript:alert(1)' }, '"checkoutUrl" must be'],
    [{ ...good, timeoutMs: 10_001 }, '"timeoutMs" must be a whole number from 1 to 10000'],
    [{ ...good, timeoutMs: 0 }, '"timeoutMs" must be'],
    [{ ...good, fetch: 'x' }, '"fetch" must be a function'],
    [{ ...good, validate: 'yes' }, '"validate" must be'],
    [{ ...good, homepages: 'x' }, '"homepages" must be'],
  ])
})

it('sessmgr() refuses a wrong provider, and a wrong site', () => {
  const licensing = offlineLicensing()
  const site = { url: 'https://example.test' }
  const providers = [{}, null, offlineLicensing, { ...licensing, name: 'A B' }, { ...licensing, activate: undefined }]
  const urls = [undefined, 'example.test', 'ftp://example.test', 'https://user:pass@example.test']
  expectRefused(sessmgr, [
    [{ licensing, site: undefined }, '"licensing" needs "site"'],
    ...providers.map((one) => [{ licensing: one, site }, '"licensing" must be a provider'] as const),
    ...['https://example.test', null].map((one) => [{ site: one }, '"site" must be an object'] as const),
    ...urls.map((url) => [{ site: { url } }, '"site.url" must be the public address'] as const),
    [{ site: { ...site, title: 7 } }, '"site.title" must be a string'],
    [{ site: { ...site, titel: 'x' } }, /no option "site\.titel".* Did you mean "title"\?/],
  ])
})

it('issueLicense() refuses what no license can be made of, and tells nothing of the key', async () => {
  const grant = { issuer: 'acme', productId: 7, expiresAt: null }
  const signing = { key: vendor.privatePem, kid: 'a' }
  for (const [key, more, problem] of [
    [{ key: 'x', kid: 'a' }, {}, 'must be an Ed25519 private key'],
    [{ key: vendor.publicJwk, kid: 'a' }, {}, 'must be an Ed25519 private key'],
    [signing, { productId: 0 }, '"pid" claim must be a product id'],
    [signing, { issuer: '' }, '"iss" claim must not be empty'],
    [signing, { expiresAt: new Date('x') }, '"exp" claim must be Unix seconds'],
    [signing, { quota: 0 }, '"quota" claim must be 1 or more'],
  ] as const) {
    const error = await issueLicense(key as never, { ...grant, ...more } as never).catch((reason) => reason)
    expect(error).toBeInstanceOf(SessmgrError)
    expect(error.message).toMatch(problem)
    expect(`${error.stack}${error.message}`).not.toContain(SECRETS[1])
  }
})
