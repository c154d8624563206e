import { createHmac, createSign, generateKeyPairSync, sign } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type LicenseGrant, LicensingError, type LicensingProvider, offlineLicensing } from '../../../src/licensing.ts'
import { fakeClock } from '../../../src/testing.ts'
import { claimsOf, createVendor } from '../../behaviour/addons/offline-vendor.ts'
import { rounds } from '../../support/rounds.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const PRODUCT = 1001
const DAY = 24 * 60 * 60_000
const SITE = { uid: '0'.repeat(32), url: 'https://shop.example.test', version: '1' }
const vendor = createVendor('key-1')
const base64url = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

let good: string
let provider: LicensingProvider
beforeAll(async () => {
  good = await vendor.issue(PRODUCT)
  provider = offlineLicensing(vendor.trust)
})

/** Both ways a license is looked at. */
async function verdictOn(key: string, by = provider): Promise<string> {
  const activation = { key, uid: SITE.uid, installId: null, plan: null, activatedAt: '', expiresAt: null }
  const call = { productId: PRODUCT, site: SITE }
  const state = await by.validate?.({ ...call, activation: { productId: PRODUCT, ...activation } })
  const outcome = await by.activate({ ...call, key }).then(
    () => 'accepted',
    (error) => (error instanceof LicensingError ? error.code : `a fault: ${error}`),
  )
  return state?.active ? 'accepted' : outcome
}

/** Signs a license with a header of one's own choice, by whoever has the key. */
function forge(header: object, signer: (text: string) => Buffer, claims: object = claimsOf(good)): string {
  const text = `${base64url(header)}.${base64url(claims)}`
  return `${text}.${signer(text).toString('base64url')}`
}

describe('a license that was changed', () => {
  it('is never accepted, whatever the change', async () => {
    expect(await verdictOn(good)).toBe('accepted')
    const random = seededRandom(20260101)
    const pick = (length: number) => Math.floor(random() * length)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n%'
    const letter = () => alphabet[pick(alphabet.length)] ?? ''
    const changes: ((key: string) => string)[] = [
      (key) => replaceAt(key, pick(key.length), letter()),
      (key) => replaceAt(key, key.length - 1 - pick(4), letter()),
      (key) => key.slice(0, pick(key.length)) + letter() + key.slice(pick(key.length)),
      (key) => key.slice(0, pick(key.length)),
      (key) => key.slice(1 + pick(key.length - 1)),
      (key) => key + letter(),
      (key) => letter() + key,
      (key) => key.split('.').toReversed().join('.'),
      (key) => `${key}.${letter()}`,
      (key) => replaceAt(replaceAt(key, pick(key.length), letter()), pick(key.length), letter()),
    ]
    const accepted: string[] = []
    let tried = 0
    while (tried < rounds(1000)) {
      const changed = changes[tried % changes.length]?.(good) ?? good
      // A letter in its own place is no change.
      if (changed === good) continue
      tried++
      if ((await verdictOn(changed)) !== 'license_invalid') accepted.push(changed)
    }
    expect(accepted).toEqual([])
  })

  it('has one spelling: the bits beyond the last byte of a signature count', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const signature = Buffer.from(good.split('.')[2] ?? '', 'base64url')
    const twins = [...alphabet].map((last) => good.slice(0, -1) + last).filter((key) => key !== good)
    const same = twins.filter((key) => Buffer.from(key.split('.')[2] ?? '', 'base64url').equals(signature))
    expect(same).toHaveLength(15)
    for (const key of same) expect(await verdictOn(key)).toBe('license_invalid')
  })

  it('keeps no claim that was put in, whichever it is', async () => {
    const [head, , signature] = good.split('.')
    for (const change of [{ pid: 1002 }, { exp: 9_999_999_999 }, { aud: 'x' }, { sites: [] }, { quota: 99 }, {}]) {
      const claims = base64url({ ...claimsOf(good), ...change })
      const key = `${head}.${claims}${Object.keys(change).length === 0 ? 'A' : ''}.${signature}`
      expect(await verdictOn(key)).toBe('license_invalid')
    }
  })
})

describe('a license that was forged', () => {
  const header = { alg: 'EdDSA', typ: 'lic+jwt', kid: 'key-1' }
  const stranger = generateKeyPairSync('ed25519')
  const ours = (text: string) => sign(null, Buffer.from(text), { key: vendor.privateJwk, format: 'jwk' })
  const theirs = (text: string) => sign(null, Buffer.from(text), stranger.privateKey)
  const hmac = (secret: string | Buffer) => (text: string) => createHmac('sha256', secret).update(text).digest()
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const strangersJwk = stranger.publicKey.export({ format: 'jwk' })
  const rawPublic = Buffer.from(vendor.publicJwk.x ?? '', 'base64url')
  const padded = (signer: (text: string) => Buffer) => (text: string) => Buffer.concat([signer(text), Buffer.alloc(32)])

  it('the way these are signed, a true one is accepted', async () => {
    expect(await verdictOn(forge(header, ours))).toBe('accepted')
  })

  it.each<[string, () => string]>([
    ['alg none and no signature', () => forge({ ...header, alg: 'none' }, () => Buffer.alloc(0))],
    ['alg None and some signature', () => forge({ ...header, alg: 'None' }, () => Buffer.alloc(64))],
    ['no alg', () => forge({ typ: header.typ, kid: header.kid }, ours)],
    ['a signature of zeros', () => forge(header, () => Buffer.alloc(64))],
    ['HS256 with the public key as PEM', () => forge({ ...header, alg: 'HS256' }, hmac(vendor.publicPem))],
    ['HS256 with the public key, in 64 bytes', () => forge({ ...header, alg: 'HS256' }, padded(hmac(rawPublic)))],
    ['EdDSA in the header, HMAC below', () => forge(header, padded(hmac(vendor.publicPem)))],
    [
      'ES256',
      () =>
        forge({ ...header, alg: 'ES256' }, (text) =>
          createSign('sha256').update(text).sign({ key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
        ),
    ],
    ['Ed25519 under its other name', () => forge({ ...header, alg: 'Ed25519' }, ours)],
    ['an algorithm in an array', () => forge({ ...header, alg: ['EdDSA'] }, ours)],
    ['the key of a stranger, under our kid', () => forge(header, theirs)],
    ['the key of a stranger, under his kid', () => forge({ ...header, kid: 'stranger' }, theirs)],
    ['the key of a stranger, embedded as jwk', () => forge({ ...header, jwk: strangersJwk }, theirs)],
    ['our key, embedded as jwk', () => forge({ ...header, jwk: vendor.publicJwk }, ours)],
    ['jku', () => forge({ ...header, jku: 'https://evil.example/keys' }, ours)],
    ['x5u', () => forge({ ...header, x5u: 'https://evil.example/cert' }, ours)],
    ['x5c', () => forge({ ...header, x5c: ['MIIB'] }, ours)],
    ['crit', () => forge({ ...header, crit: ['exp'], exp: 1 }, ours)],
    ['b64 false', () => forge({ ...header, b64: false, crit: ['b64'] }, ours)],
    ['a kid that climbs through folders', () => forge({ ...header, kid: '../../../../dev/null' }, theirs)],
    ['a kid that is a path', () => forge({ ...header, kid: '/etc/ssl/key.pem' }, theirs)],
    ['the kid __proto__', () => forge({ ...header, kid: '__proto__' }, theirs)],
    ['the kid constructor', () => forge({ ...header, kid: 'constructor' }, theirs)],
    ['an empty kid', () => forge({ ...header, kid: '' }, theirs)],
    ['a kid that is a number', () => forge({ ...header, kid: 1 }, theirs)],
    ['no kid', () => forge({ alg: header.alg, typ: header.typ }, ours)],
    ['another typ', () => forge({ ...header, typ: 'JWT' }, ours)],
    ['no typ', () => forge({ alg: header.alg, kid: header.kid }, ours)],
    ['the typ of a revocation list', () => forge({ ...header, typ: 'lic-revocations+jwt' }, ours)],
    ['a header that is no object', () => forge([header], ours)],
    ['a header that is null', () => forge(null as never, ours)],
    ['claims that are no object', () => forge(header, ours, ['x'])],
    ['claims that are null', () => forge(header, ours, null as never)],
    ['a revocation list in its place', () => forge(header, ours, { iss: 'acme', aud: 'sessmgr', iat: 1, jtis: [] })],
    ['another issuer', () => forge(header, ours, { ...claimsOf(good), iss: 'other' })],
    ['another audience', () => forge(header, ours, { ...claimsOf(good), aud: 'other' })],
    ['an audience in an array', () => forge(header, ours, { ...claimsOf(good), aud: ['sessmgr'] })],
    ['a product id as text', () => forge(header, ours, { ...claimsOf(good), pid: '1001' })],
    ['no end, not even null', () => forge(header, ours, without('exp'))],
    ['no id to revoke it by', () => forge(header, ours, without('jti'))],
    ['an end that is a text', () => forge(header, ours, { ...claimsOf(good), exp: '9999999999' })],
  ])('%s is refused', async (_what, make) => {
    expect(await verdictOn(make())).toBe('license_invalid')
  })

  it('with an application that trusts nobody, nothing is good', async () => {
    expect(await verdictOn(good, offlineLicensing())).toBe('license_invalid')
  })
})

describe('a true license that is not good here', () => {
  it.each<[string, Partial<LicenseGrant> & { product?: number }, string]>([
    ['for another product', { product: 1002 }, 'license_wrong_product'],
    ['for another audience', { audience: 'other' }, 'license_invalid'],
    ['that has expired', { expiresAt: new Date(Date.now() - 61_000) }, 'license_expired'],
    ['that is not good yet', { notBefore: new Date(Date.now() + 120_000) }, 'license_invalid'],
    ['for another host', { sites: ['example.test', 'shop.example.test.evil.test'] }, 'license_site_mismatch'],
    ['for no host at all', { sites: [] }, 'license_site_mismatch'],
    ['from the future', { issuedAt: new Date(Date.now() + 2 * 60 * 60_000) }, 'license_invalid'],
  ])('is refused: one %s', async (_what, { product = PRODUCT, ...grant }, code) => {
    expect(await verdictOn(await vendor.issue(product, grant))).toBe(code)
  })

  it.each<[string, () => Partial<LicenseGrant>]>([
    ['that has expired half a minute ago', () => ({ expiresAt: new Date(Date.now() - 30_000) })],
    ['for this host among others, whatever the case', () => ({ sites: ['a.test', 'SHOP.example.test'] })],
    ['that was issued half a minute ahead', () => ({ issuedAt: new Date(Date.now() + 30_000) })],
  ])('is accepted: one %s', async (_what, grantOf) => {
    expect(await verdictOn(await vendor.issue(PRODUCT, grantOf()))).toBe('accepted')
  })
})

describe('revocation', () => {
  const withList = (revocations: string | (() => string | Promise<string>), more = {}) =>
    offlineLicensing({ ...vendor.trust, revocations, ...more })

  it('takes a license back, and no other', async () => {
    const other = await vendor.issue(PRODUCT)
    const list = await vendor.revoke([good])
    expect(
      await verdictOn(
        good,
        withList(() => list),
      ),
    ).toBe('license_revoked')
    expect(
      await verdictOn(
        other,
        withList(() => list),
      ),
    ).toBe('accepted')
  })

  it.each<[string, () => Promise<string>]>([
    ['is by a stranger', () => createVendor('key-1').revoke([])],
    ['is from another vendor', () => createVendor('key-1', 'other').revoke([])],
    ['is a license', () => vendor.issue(PRODUCT)],
    ['is empty', async () => ''],
    ['is older than it may be', () => vendor.revoke([], new Date(Date.now() - 31 * DAY))],
    ['cannot be had', () => Promise.reject(new Error('out of order'))],
    ['was changed', async () => (await vendor.revoke([good])).replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
  ])('accepts nothing while the list %s', async (_what, list) => {
    expect(await verdictOn(good, withList(list)).catch((error) => error.code)).toBe('provider_unavailable')
  })

  it('a list is believed for as long as the application says', async () => {
    const list = await vendor.revoke([], new Date(Date.now() - 31 * DAY))
    expect(
      await verdictOn(
        good,
        withList(() => list, { revocationsMaxAgeDays: 60 }),
      ),
    ).toBe('accepted')
  })

  it('a file that is not there is no list', async () => {
    const provider = withList('/nowhere/at/all')
    await expect(provider.activate({ productId: PRODUCT, key: good, site: SITE })).rejects.toMatchObject({
      code: 'provider_unavailable',
      retryable: true,
      message: 'The revocation list cannot be read.',
    })
  })
})

describe('a clock that is turned back', () => {
  const activate = (by: LicensingProvider, key: string, seenAt?: string) =>
    by.activate({ productId: PRODUCT, key, site: SITE, seenAt })

  it('revives no license: not in the same process', async () => {
    const now = Math.floor(Date.now() / 1000) * 1000
    const clock = fakeClock(now)
    const by = offlineLicensing({ ...vendor.trust, clock })
    const key = await vendor.issue(PRODUCT, { issuedAt: new Date(now), expiresAt: new Date(now + 10 * DAY) })
    expect((await activate(by, key)).expiresAt).toBe(new Date(now + 10 * DAY).toISOString())
    clock.advance(11 * DAY)
    await expect(activate(by, key)).rejects.toMatchObject({ code: 'license_expired' })
    clock.advance(-5 * DAY)
    await expect(activate(by, key)).rejects.toMatchObject({
      code: 'license_invalid',
      message: /clock is behind: the license or an earlier check is from/,
    })
  })

  it('nor in a new one that is told what time it has been', async () => {
    const clock = fakeClock()
    const now = clock.now()
    const key = await vendor.issue(PRODUCT, { issuedAt: new Date(now), expiresAt: new Date(now + 10 * DAY) })
    const by = () => offlineLicensing({ ...vendor.trust, clock })
    await expect(activate(by(), key, new Date(now + 2 * DAY).toISOString())).rejects.toMatchObject({
      code: 'license_invalid',
    })
    // Clocks of several servers differ by a little.
    await expect(activate(by(), key, new Date(now + 30 * 60_000).toISOString())).resolves.toMatchObject({ key })
  })

  it('nor where the license, or the revocation list, is of a later time', async () => {
    const clock = fakeClock()
    const ahead = new Date(clock.now() + DAY)
    const key = await vendor.issue(PRODUCT, { issuedAt: new Date(clock.now()) })
    const list = await vendor.revoke([], ahead)
    const by = (more = {}) => offlineLicensing({ ...vendor.trust, clock, ...more })
    await expect(activate(by(), key)).resolves.toMatchObject({ key })
    await expect(activate(by({ revocations: () => list }), key)).rejects.toMatchObject({ code: 'license_invalid' })
    const later = await vendor.issue(PRODUCT, { issuedAt: ahead })
    await expect(activate(by(), later)).rejects.toMatchObject({ code: 'license_invalid' })
  })
})

function replaceAt(text: string, index: number, letter: string): string {
  return text.slice(0, index) + letter + text.slice(index + 1)
}

function without(claim: string): object {
  return Object.fromEntries(Object.entries(claimsOf(good)).filter(([name]) => name !== claim))
}
