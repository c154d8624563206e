import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LICENSING_ID } from '../../../../src/ground/constants.ts'
import { SessmgrError, sessmgr } from '../../../../src/index.ts'
import { freemiusLicensing, issueLicense, offlineLicensing } from '../../../../src/licensing.ts'
import { createVendor, OFFLINE_ADDONS } from '../../../behaviour/addons/offline-vendor.ts'

const vendor = createVendor()
const CANARY = 'canary secret of the provider'

function problemOf(make: () => unknown): string {
  try {
    make()
  } catch (error) {
    expect(error).toBeInstanceOf(SessmgrError)
    expect((error as SessmgrError).code).toBe('invalid_option')
    return (error as SessmgrError).message
  }
  return 'none'
}

describe('the options of offlineLicensing()', () => {
  it.each<[object | null, RegExp]>([
    [null, /must be an object/],
    [{ catalog: [] }, /no option "catalog".* Did you mean "catalogue"\?/],
    [{ catalogue: 7 }, /"catalogue" must be an array/],
    [{ catalogue: [{ id: 1 }] }, /"catalogue" is wrong at 0\.slug/],
    [{ catalogue: [{ ...OFFLINE_ADDONS[0], id: 0 }] }, /wrong at 0\.id: it must be a product id/],
    [{ catalogue: [{ ...OFFLINE_ADDONS[0], title: '' }] }, /wrong at 0\.title: it must not be empty/],
    [{ catalogue: [OFFLINE_ADDONS[0], OFFLINE_ADDONS[0]] }, /must not have duplicate ids/],
    [{ catalogue: '/nowhere/addons.json' }, /"catalogue" cannot be read/],
    [{ keys: [] }, /"keys" must be an object/],
    [{ keys: { a: 'x' }, issuer: 'acme' }, /"keys\.a" must be an Ed25519 public key/],
    [{ keys: { a: { kty: 'RSA', n: 'x', e: 'AQAB' } }, issuer: 'acme' }, /"keys\.a" must be an Ed25519 public key/],
    [{ keys: { a: vendor.privatePem }, issuer: 'acme' }, /"keys\.a" is a private key/],
    [{ keys: { a: vendor.privateJwk }, issuer: 'acme' }, /"keys\.a" is a private key/],
    [{ keys: vendor.trust.keys }, /"keys" needs "issuer"/],
    [{ issuer: 7 }, /"issuer" must be a string/],
    [{ audience: '' }, /"audience" must not be empty/],
    [{ revocations: 7 }, /"revocations" must be/],
    [{ revocations: '' }, /"revocations" must be/],
    [{ revocationsMaxAgeDays: 0 }, /"revocationsMaxAgeDays" must be a whole number from 1 to 3650/],
    [{ clock: {} }, /"clock" must have/],
  ])('%j', (options, problem) => {
    const message = problemOf(() => offlineLicensing(options as never))
    expect(message).toMatch(problem)
    expect(message).not.toContain(vendor.privateJwk.d)
  })

  it('take public keys as PEM and as JWK', async () => {
    const key = await vendor.issue(7)
    for (const one of [vendor.publicPem, vendor.publicJwk]) {
      const provider = offlineLicensing({ issuer: 'acme', keys: { [vendor.kid]: one } })
      const site = { uid: '0'.repeat(32), url: 'https://example.test', version: '1' }
      expect(await provider.activate({ productId: 7, key, site })).toMatchObject({ key })
    }
  })

  it('take the catalogue from a file, which is read anew each time, and says what is wrong with it then', async () => {
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
    await expect(provider.listAddons({})).rejects.toMatchObject({
      message: 'The catalogue file cannot be read.',
    })
  })
})

describe('the options of freemiusLicensing()', () => {
  const good = { productId: 1, apiToken: 'token' }
  it('list the add-ons of LICENSING_ID, unless another product is given', () => {
    const { productId: _, ...rest } = good
    expect(freemiusLicensing(rest).name).toBe(`freemius:${LICENSING_ID}`)
    expect(freemiusLicensing({ ...rest, productId: 1234 }).name).toBe('freemius:1234')
  })

  it.each<[object | undefined, RegExp]>([
    [undefined, /needs options/],
    [{ ...good, token: 'x' }, /no option "token"/],
    [{ ...good, productId: null }, /"productId" must be/],
    [{ ...good, productId: '1' }, /"productId" must be/],
    [{ productId: 1 }, /Pass either "apiToken", or "publicKey"/],
    [{ ...good, publicKey: 'pk' }, /Pass either/],
    [{ ...good, secretKey: 'sk' }, /Pass either/],
    [{ productId: 1, secretKey: 'sk' }, /Pass either/],
    [{ ...good, apiToken: CANARY }, /"apiToken" must be a string without spaces/],
    [{ ...good, apiToken: 'a\r\nX-Evil: 1' }, /"apiToken" must be/],
    [{ ...good, apiToken: '' }, /"apiToken" must be/],
    [{ ...good, baseUrl: 'http://api.freemius.com' }, /"baseUrl" must be an https URL/],
    [{ ...good, baseUrl: 'ftp://127.0.0.1' }, /"baseUrl" must be/],
    [{ ...good, baseUrl: 'http://127.0.0.1.evil.test' }, /"baseUrl" must be/],
    [{ ...good, baseUrl: 'http://localhost.evil.test' }, /"baseUrl" must be/],
    [{ ...good, baseUrl: 'https://user:pass@api.test' }, /"baseUrl" must be/],
    [{ ...good, baseUrl: 'https://api.test/?x=1' }, /"baseUrl" must be/],
    [{ ...good, baseUrl: '/v1' }, /"baseUrl" must be/],
    [{ ...good, checkoutUrl: 'javascript:alert(1)' }, /"checkoutUrl" must be/],
    [{ ...good, timeoutMs: 10_001 }, /"timeoutMs" must be a whole number from 1 to 10000/],
    [{ ...good, timeoutMs: 0 }, /"timeoutMs" must be/],
    [{ ...good, fetch: 'x' }, /"fetch" must be a function/],
    [{ ...good, validate: 'yes' }, /"validate" must be/],
    [{ ...good, homepages: 'x' }, /"homepages" must be/],
  ])('%j', (options, problem) => {
    const message = problemOf(() => freemiusLicensing(options as never))
    expect(message).toMatch(problem)
    expect(message).not.toContain('canary')
  })

  it.each([
    'https://api.test',
    'https://api.test:8443/licensing/',
    'http://127.0.0.1:9',
    'http://localhost',
    'http://[::1]:9',
  ])('take the address %s', (baseUrl) => {
    expect(freemiusLicensing({ ...good, baseUrl }).name).toBe('freemius:1')
  })
})

describe('the options licensing and site of sessmgr()', () => {
  const licensing = offlineLicensing()
  const site = { url: 'https://example.test' }
  it.each<[object, RegExp]>([
    [{ licensing, site: undefined }, /"licensing" needs "site"/],
    [{ licensing: {}, site }, /"licensing" must be a provider/],
    [{ licensing: null, site }, /"licensing" must be a provider/],
    [{ licensing: offlineLicensing, site }, /"licensing" must be a provider/],
    [{ licensing: { ...licensing, name: 'My Provider' }, site }, /"licensing" must be a provider/],
    [{ licensing: { ...licensing, activate: undefined }, site }, /"licensing" must be a provider/],
    [{ site: 'https://example.test' }, /"site" must be an object/],
    [{ site: null }, /"site" must be an object/],
    [{ site: {} }, /"site\.url" must be the public address/],
    [{ site: { url: 'example.test' } }, /"site\.url" must be/],
    [{ site: { url: 'ftp://example.test' } }, /"site\.url" must be/],
    [{ site: { url: 'https://user:pass@example.test' } }, /"site\.url" must be/],
    [{ site: { ...site, title: 7 } }, /"site\.title" must be a string/],
    [{ site: { ...site, titel: 'x' } }, /no option "site\.titel".* Did you mean "title"\?/],
  ])('%o', (options, problem) => {
    expect(problemOf(() => sessmgr(options))).toMatch(problem)
  })
})

describe('issueLicense()', () => {
  const grant = { issuer: 'acme', productId: 7, expiresAt: null }
  it.each<[object, object, RegExp]>([
    [{ key: 'x', kid: 'a' }, {}, /must be an Ed25519 private key/],
    [{ key: vendor.publicJwk, kid: 'a' }, {}, /must be an Ed25519 private key/],
    [{ key: vendor.privatePem, kid: 'a' }, { productId: 0 }, /"pid" claim must be a product id/],
    [{ key: vendor.privatePem, kid: 'a' }, { issuer: '' }, /"iss" claim must not be empty/],
    [{ key: vendor.privatePem, kid: 'a' }, { expiresAt: new Date('x') }, /"exp" claim must be Unix seconds/],
    [{ key: vendor.privatePem, kid: 'a' }, { quota: 0 }, /"quota" claim must be 1 or more/],
  ])('refuses what no license can be made of: %#', async (key, more, problem) => {
    const error = await issueLicense(key as never, { ...grant, ...more }).catch((reason) => reason)
    expect(error).toBeInstanceOf(SessmgrError)
    expect(error.message).toMatch(problem)
    expect(`${error.stack}${error.message}`).not.toContain(vendor.privateJwk.d)
  })
})
