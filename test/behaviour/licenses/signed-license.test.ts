import { createHmac, createSign, generateKeyPairSync, sign } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type LicenseGrant, LicensingError, type LicensingProvider, offlineLicensing } from '../../../src/licensing.ts'
import { fakeClock } from '../../../src/testing.ts'
import { rounds } from '../../support/rounds.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { claimsOf, createVendor } from '../addons/offline-vendor.ts'

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
    ]
    const accepted: string[] = []
    for (let tried = 0; tried < rounds(180); tried++) {
      const changed = changes[tried % changes.length]?.(good) ?? good
      // A letter in its own place is no change.
      if (changed !== good && (await verdictOn(changed)) !== 'license_invalid') accepted.push(changed)
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
    for (const change of [{ pid: 1002 }, { exp: 9_999_999_999 }, { aud: 'x' }, { sites: [] }, { quota: 99 }]) {
      const key = `${head}.${base64url({ ...claimsOf(good), ...change })}.${signature}`
      expect(await verdictOn(key), JSON.stringify(change)).toBe('license_invalid')
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
  const byEc = (text: string) =>
    createSign('sha256').update(text).sign({ key: ec.privateKey, dsaEncoding: 'ieee-p1363' })
  const strangersJwk = stranger.publicKey.export({ format: 'jwk' })
  const rawPublic = Buffer.from(vendor.publicJwk.x ?? '', 'base64url')
  const padded = (signer: (text: string) => Buffer) => (text: string) => Buffer.concat([signer(text), Buffer.alloc(32)])

  it('in its header is refused', async () => {
    expect(await verdictOn(forge(header, ours))).toBe('accepted')
    const forged: Record<string, string> = {
      'alg none and no signature': forge({ ...header, alg: 'none' }, () => Buffer.alloc(0)),
      'alg none and some signature': forge({ ...header, alg: 'none' }, () => Buffer.alloc(64)),
      'no alg': forge({ typ: header.typ, kid: header.kid }, ours),
      'a signature of zeros': forge(header, () => Buffer.alloc(64)),
      'HS256 with the public key as PEM': forge({ ...header, alg: 'HS256' }, hmac(vendor.publicPem)),
      'HS256 with the public key, in 64 bytes': forge({ ...header, alg: 'HS256' }, padded(hmac(rawPublic))),
      'EdDSA in the header, HMAC below': forge(header, padded(hmac(vendor.publicPem))),
      ES256: forge({ ...header, alg: 'ES256' }, byEc),
      'Ed25519 under its other name': forge({ ...header, alg: 'Ed25519' }, ours),
      'an algorithm in an array': forge({ ...header, alg: ['EdDSA'] }, ours),
      'the key of a stranger, under our kid': forge(header, theirs),
      'the key of a stranger, under his kid': forge({ ...header, kid: 'stranger' }, theirs),
      'the key of a stranger, embedded as jwk': forge({ ...header, jwk: strangersJwk }, theirs),
      'our key, embedded as jwk': forge({ ...header, jwk: vendor.publicJwk }, ours),
      jku: forge({ ...header, jku: 'https://evil.example/keys' }, ours),
      x5c: forge({ ...header, x5c: ['MIIB'] }, ours),
      crit: forge({ ...header, crit: ['exp'], exp: 1 }, ours),
      'b64 false': forge({ ...header, b64: false, crit: ['b64'] }, ours),
      'a kid that climbs through folders': forge({ ...header, kid: '../../../../dev/null' }, theirs),
      'the kid __proto__': forge({ ...header, kid: '__proto__' }, theirs),
      'a kid that is a number': forge({ ...header, kid: 1 }, theirs),
      'no kid': forge({ alg: header.alg, typ: header.typ }, ours),
      'another typ': forge({ ...header, typ: 'JWT' }, ours),
      'no typ': forge({ alg: header.alg, kid: header.kid }, ours),
      'the typ of a revocation list': forge({ ...header, typ: 'lic-revocations+jwt' }, ours),
      'a header that is no object': forge([header], ours),
      'a header that is null': forge(null as never, ours),
    }
    for (const [what, key] of Object.entries(forged)) expect(await verdictOn(key), what).toBe('license_invalid')
    // An application that trusts nobody.
    expect(await verdictOn(good, offlineLicensing())).toBe('license_invalid')
  })

  it('in its claims is refused, although it is signed', async () => {
    const { exp: _, ...endless } = claimsOf(good)
    const { jti: __, ...irrevocable } = claimsOf(good)
    const claims: Record<string, unknown> = {
      'no object': ['x'],
      null: null,
      'a revocation list': { iss: 'acme', aud: 'sessmgr', iat: 1, jtis: [] },
      'another issuer': { ...claimsOf(good), iss: 'other' },
      'another audience': { ...claimsOf(good), aud: 'other' },
      'an audience in an array': { ...claimsOf(good), aud: ['sessmgr'] },
      'a product id as text': { ...claimsOf(good), pid: '1001' },
      'an end that is a text': { ...claimsOf(good), exp: '9999999999' },
      'no end, not even null': endless,
      'no id to revoke it by': irrevocable,
    }
    for (const [what, given] of Object.entries(claims)) {
      expect(await verdictOn(forge(header, ours, given as object)), what).toBe('license_invalid')
    }
  })
})

it('a true license is good for its product, time and host, give or take a minute', async () => {
  const at = (seconds: number) => new Date(Date.now() + seconds * 1000)
  const grants: [Partial<LicenseGrant>, string][] = [
    [{ productId: 1002 }, 'license_wrong_product'],
    [{ audience: 'other' }, 'license_invalid'],
    [{ expiresAt: at(-61) }, 'license_expired'],
    [{ expiresAt: at(-30) }, 'accepted'],
    [{ notBefore: at(120) }, 'license_invalid'],
    [{ notBefore: at(30) }, 'accepted'],
    [{ sites: ['example.test', 'shop.example.test.evil.test'] }, 'license_site_mismatch'],
    [{ sites: [] }, 'license_site_mismatch'],
    [{ sites: ['a.test', 'SHOP.example.test'] }, 'accepted'],
    [{ issuedAt: at(2 * 3600) }, 'license_invalid'],
    [{ issuedAt: at(30) }, 'accepted'],
  ]
  for (const [grant, verdict] of grants) {
    expect(await verdictOn(await vendor.issue(PRODUCT, grant)), JSON.stringify(grant)).toBe(verdict)
  }
})

describe('a revocation list', () => {
  const withList = (list: string | Promise<string>, more = {}) =>
    offlineLicensing({ ...vendor.trust, revocations: () => list, ...more })
  const longAgo = () => new Date(Date.now() - 31 * DAY)

  it('takes a license back, and no other, and is believed for as long as the application says', async () => {
    const other = await vendor.issue(PRODUCT)
    const list = await vendor.revoke([good])
    expect(await verdictOn(good, withList(list))).toBe('license_revoked')
    expect(await verdictOn(other, withList(list))).toBe('accepted')
    const old = await vendor.revoke([], longAgo())
    expect(await verdictOn(good, withList(old, { revocationsMaxAgeDays: 60 }))).toBe('accepted')
  })

  it('that cannot be believed or read lets nothing be accepted', async () => {
    const lists: Record<string, () => Promise<string>> = {
      'by a stranger': () => createVendor('key-1').revoke([]),
      'from another vendor': () => createVendor('key-1', 'other').revoke([]),
      'a license': () => vendor.issue(PRODUCT),
      empty: async () => '',
      'older than it may be': () => vendor.revoke([], longAgo()),
      'not to be had': () => Promise.reject(new Error('out of order')),
      changed: async () => (await vendor.revoke([good])).replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
    }
    for (const [what, make] of Object.entries(lists)) {
      const by = offlineLicensing({ ...vendor.trust, revocations: make })
      expect(await verdictOn(good, by).catch((error) => error.code), what).toBe('provider_unavailable')
    }
    const provider = offlineLicensing({ ...vendor.trust, revocations: '/nowhere/at/all' })
    await expect(provider.activate({ productId: PRODUCT, key: good, site: SITE })).rejects.toMatchObject({
      code: 'provider_unavailable',
      retryable: true,
      message: 'The revocation list cannot be read.',
    })
  })
})

it('a clock that is turned back revives no license, in this process or in one that is told the time', async () => {
  const clock = fakeClock(Math.floor(Date.now() / 1000) * 1000)
  const now = clock.now()
  const ahead = (days: number) => new Date(now + days * DAY)
  const provider = (more = {}) => offlineLicensing({ ...vendor.trust, clock, ...more })
  const by = provider()
  const verdict = (key: string, one = by, seenAt?: Date) =>
    one.activate({ productId: PRODUCT, key, site: SITE, seenAt: seenAt?.toISOString() }).then(
      ({ expiresAt }) => expiresAt,
      ({ code, message }) => [code, message],
    )
  const BEHIND = ['license_invalid', expect.stringMatching(/clock is behind: the license or an earlier check is from/)]
  const key = await vendor.issue(PRODUCT, { issuedAt: ahead(0), expiresAt: ahead(10) })
  expect(await verdict(key)).toBe(ahead(10).toISOString())
  // What an earlier check, the license or the list has seen. Clocks of several servers differ by a little.
  expect(await verdict(key, provider(), ahead(2))).toEqual(BEHIND)
  expect(await verdict(key, provider(), ahead(0.02))).toBe(ahead(10).toISOString())
  expect(await verdict(await vendor.issue(PRODUCT, { issuedAt: ahead(1) }))).toEqual(BEHIND)
  const list = await vendor.revoke([], ahead(1))
  expect(await verdict(key, provider({ revocations: () => list }))).toEqual(BEHIND)
  clock.advance(11 * DAY)
  expect(await verdict(key)).toMatchObject(['license_expired', expect.any(String)])
  clock.advance(-5 * DAY)
  expect(await verdict(key)).toEqual(BEHIND)
})

function replaceAt(text: string, index: number, letter: string): string {
  return text.slice(0, index) + letter + text.slice(index + 1)
}
