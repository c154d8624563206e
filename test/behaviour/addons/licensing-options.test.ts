import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { LICENSING_ID } from '../../../src/ground/constants.ts'
import { type SessmgrError, sessmgr } from '../../../src/index.ts'
import { freemiusLicensing, issueLicense, offlineLicensing } from '../../../src/licensing.ts'
import { ownFolder } from '../../support/own-folder.ts'
import { createVendor, OFFLINE_ADDONS } from './offline-vendor.ts'

const vendor = createVendor()
const SECRETS = ['canary secret', vendor.privateJwk.d as string]

/** Expects that each of these options is refused with its problem, which tells no secret. */
function expectRefused(make: (options: never) => unknown, rows: readonly (readonly [unknown, RegExp | string])[]) {
  for (const [options, problem] of rows) {
    let message = 'none'
    try {
      make(options as never)
    } catch (error) {
      expect(error).toMatchObject({ name: 'SessmgrError', code: 'invalid_option' })
      message = (error as SessmgrError).message
    }
    expect(message, JSON.stringify(options)).toMatch(problem)
    for (const secret of SECRETS) expect(message).not.toContain(secret)
  }
}

it('offlineLicensing() refuses wrong options by name, and tells nothing of a private key', () => {
  const [first] = OFFLINE_ADDONS
  expectRefused(offlineLicensing, [
    [{ catalog: [] }, /no option "catalog".* Did you mean "catalogue"\?/],
    [{ catalogue: 7 }, '"catalogue" must be an array'],
    [{ catalogue: [{ ...first, id: 0 }] }, 'wrong at 0.id: it must be a product id'],
    [{ catalogue: [first, first] }, 'must not have duplicate ids'],
    [{ catalogue: '/nowhere/addons.json' }, '"catalogue" cannot be read'],
    [{ keys: { a: 'x' }, issuer: 'acme' }, '"keys.a" must be an Ed25519 public key'],
    [{ keys: { a: vendor.privatePem }, issuer: 'acme' }, '"keys.a" is a private key'],
    [{ keys: { a: vendor.privateJwk }, issuer: 'acme' }, '"keys.a" is a private key'],
    [{ keys: vendor.trust.keys }, '"keys" needs "issuer"'],
    [{ audience: '' }, '"audience" must not be empty'],
    [{ revocations: 7 }, '"revocations" must be'],
    [{ revocationsMaxAgeDays: 0 }, '"revocationsMaxAgeDays" must be a whole number from 1 to 3650'],
  ])
})

it('offlineLicensing() reads a catalogue file anew each time, and says what is wrong with it then', async () => {
  const folder = ownFolder()
  const file = join(folder, 'addons.json')
  writeFileSync(file, JSON.stringify(OFFLINE_ADDONS))
  const provider = offlineLicensing({ catalogue: file })
  expect(await provider.listAddons({})).toHaveLength(3)
  for (const text of ['[', '{}', '[{"id":"x"}]']) {
    writeFileSync(file, text)
    await expect(provider.listAddons({}), text).rejects.toMatchObject({ code: 'provider_bad_response' })
    expectRefused(offlineLicensing, [[{ catalogue: file }, /^"catalogue" /]])
  }
})

it('freemiusLicensing() lists the add-ons of LICENSING_ID by default, and takes https, and http of this machine', () => {
  expect(freemiusLicensing({ apiToken: 'token' }).name).toBe(`freemius:${LICENSING_ID}`)
  const good = { productId: 1, apiToken: 'token' }
  for (const baseUrl of [
    'https://api.test:8443/licensing/',
    'http://127.0.0.1:9',
    'http://localhost',
    'http://[::1]:9',
  ]) {
    expect(freemiusLicensing({ ...good, baseUrl }).name, baseUrl).toBe('freemius:1')
  }
  const urls = ['http://api.freemius.com', 'http://127.0.0.1.evil.test', 'https://user:pass@api.test', '/v1']
  expectRefused(freemiusLicensing, [
    [undefined, 'needs options'],
    [{ ...good, productId: '1' }, '"productId" must be'],
    [{ productId: 1 }, 'Pass either "apiToken", or "publicKey"'],
    [{ ...good, publicKey: 'pk' }, 'Pass either'],
    [{ productId: 1, secretKey: 'sk' }, 'Pass either'],
    [{ ...good, apiToken: 'canary secret of the provider' }, '"apiToken" must be a string without spaces'],
    [{ ...good, apiToken: 'a\r\nX-Evil: 1' }, '"apiToken" must be'],
    ...urls.map((baseUrl) => [{ ...good, baseUrl }, '"baseUrl" must be'] as const),
    [{ ...good, checkoutUrl: 'javascript:alert(1)' }, '"checkoutUrl" must be'],
    [{ ...good, timeoutMs: 10_001 }, '"timeoutMs" must be a whole number from 1 to 10000'],
  ])
})

it('sessmgr() refuses a wrong provider, and a wrong site', () => {
  const licensing = offlineLicensing()
  const site = { url: 'https://example.test' }
  const providers = [null, offlineLicensing, { ...licensing, name: 'A B' }, { ...licensing, activate: undefined }]
  expectRefused(sessmgr, [
    [{ licensing, site: undefined }, '"licensing" needs "site"'],
    ...providers.map((one) => [{ licensing: one, site }, '"licensing" must be a provider'] as const),
    [{ site: { url: 'ftp://example.test' } }, '"site.url" must be the public address'],
    [{ site: { url: 'https://user:pass@example.test' } }, '"site.url" must be the public address'],
  ])
})

it('issueLicense() refuses what no license can be made of, and tells nothing of the key', async () => {
  const grant = { issuer: 'acme', productId: 7, expiresAt: null }
  const signing = { key: vendor.privatePem, kid: 'a' }
  for (const [key, more, problem] of [
    [{ key: vendor.publicJwk, kid: 'a' }, {}, 'must be an Ed25519 private key'],
    [signing, { productId: 0 }, '"pid" claim must be a product id'],
  ] as const) {
    const error = await issueLicense(key as never, { ...grant, ...more }).catch((reason) => reason)
    expect(error).toMatchObject({ name: 'SessmgrError', message: expect.stringContaining(problem) })
    expect(`${error.stack}${error.message}`).not.toContain(SECRETS[1])
  }
})
