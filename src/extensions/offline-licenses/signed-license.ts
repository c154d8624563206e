import { createPrivateKey, type KeyObject, randomUUID } from 'node:crypto'
import * as z from 'zod/mini'
import { SessmgrError } from '../../ground/errors.ts'
import type { LicensingCode } from '../../index.ts'

/** `typ` of a signed license. */
const LICENSE_TYPE = 'lic+jwt'
/** Default audience of licenses and revocation lists. */
export const DEFAULT_AUDIENCE = 'sessmgr'

const seconds = z.int('must be Unix seconds').check(z.minimum(0, 'must be Unix seconds'))
const text = z.string('must be a string').check(z.minLength(1, 'must not be empty'))

const PRODUCT_ID = 'must be a product id, a positive integer'
/** The product id of an add-on. */
export const productId = z.int(PRODUCT_ID).check(z.minimum(1, PRODUCT_ID))

/** Claims of a license. Times are in Unix seconds. */
const licenseClaims = z.object({
  /** The vendor. */
  iss: text,
  aud: text,
  /** Id of the license. */
  sub: text,
  /** Product id. */
  pid: productId,
  iat: seconds,
  nbf: z.optional(seconds),
  /** Time of expiry. Null if the license never expires. */
  exp: z.nullable(seconds),
  /** Number of sites; null if unlimited. */
  quota: z.nullable(z.int('must be a whole number').check(z.minimum(1, 'must be 1 or more'))),
  /** What the license includes. */
  ent: z.array(text),
  /** Host names that the license is bound to. */
  sites: z.optional(z.array(text)),
  /** Id of the license key, for revocation. */
  jti: text,
})

/** Claims of a license. Times are in Unix seconds. */
export type LicenseClaims = z.infer<typeof licenseClaims>

/** How far the clocks of vendor and site may differ, in seconds. */
const LEEWAY = 60
/** How many seconds the clock may go back, because the clocks of several servers differ. */
const ROLLBACK_LEEWAY = 60 * 60

const NO_KEY = "This is not a license key. Copy the whole key from your vendor's message."

/** What a license is checked against. Times are in Unix seconds. */
interface LicenseRules {
  readonly keys: PublicKeys
  readonly issuer: string
  readonly audience: string
  readonly now: number
  /** Product that the license must be for. Undefined means any. */
  readonly productId?: number | undefined
  /** Host name of the site. Without it, licenses that are bound to hosts are invalid. */
  readonly host?: string | undefined
  /** The latest time seen on this site. */
  readonly seenAt?: number | undefined
  readonly revocations?: RevocationList | undefined
}

/** A problem with a license. */
interface LicenseProblem {
  readonly code: LicensingCode
  /** A readable sentence that never contains any part of the key. */
  readonly sentence: string
}

/** The claims of a license, if its signature is valid, and all its problems, the most serious first. */
export interface LicenseJudgement {
  readonly claims: LicenseClaims | undefined
  readonly problems: readonly LicenseProblem[]
}

/** Checks a signed license key. */
export async function judgeLicense(text: string, rules: LicenseRules): Promise<LicenseJudgement> {
  const signed = await readSigned(text, LICENSE_TYPE, rules.keys)
  if ('problem' in signed) {
    const isKey = signed.problem !== NOT_SIGNED
    return unbelievable(isKey ? `This license key is not valid: ${signed.problem}.` : NO_KEY)
  }
  const parsed = licenseClaims.safeParse(signed.payload)
  if (!parsed.success) {
    const names = [...new Set(parsed.error.issues.map(({ path }) => path.join('.')))].join(', ')
    return unbelievable(`This key is signed, but it is not a license: ${names || 'its content'} is missing or invalid.`)
  }
  return { claims: parsed.data, problems: problemsOf(parsed.data, rules) }
}

function unbelievable(sentence: string): LicenseJudgement {
  return { claims: undefined, problems: [{ code: 'license_invalid', sentence }] }
}

function problemsOf(claims: LicenseClaims, rules: LicenseRules): LicenseProblem[] {
  const { now, revocations } = rules
  const problems: LicenseProblem[] = []
  const add = (code: LicensingCode, sentence: string) => problems.push({ code, sentence })
  if (claims.iss !== rules.issuer) add('license_invalid', 'This license is from another vendor.')
  if (claims.aud !== rules.audience) add('license_invalid', 'This license is for another application.')
  if (rules.productId !== undefined && claims.pid !== rules.productId) {
    add('license_wrong_product', 'This license is for another product.')
  }
  if (revocations?.jtis.has(claims.jti)) add('license_revoked', 'This license has been revoked.')
  const seen = Math.max(claims.iat, rules.seenAt ?? 0, revocations?.issuedAt ?? 0)
  if (now + ROLLBACK_LEEWAY < seen) {
    add('license_invalid', `This server's clock is behind: the license or an earlier check is from ${dateOf(seen)}.`)
  }
  if (claims.nbf !== undefined && now + LEEWAY < claims.nbf) {
    add('license_invalid', `This license is not valid before ${dateOf(claims.nbf)}.`)
  }
  if (claims.exp !== null && now - LEEWAY >= claims.exp) {
    add('license_expired', `This license expired on ${dateOf(claims.exp)}.`)
  }
  if (claims.sites !== undefined && !isAmong(claims.sites, rules.host)) {
    add('license_site_mismatch', 'This license is for another site.')
  }
  return problems
}

function isAmong(sites: readonly string[], host: string | undefined): boolean {
  return sites.some((site) => site.toLowerCase() === host?.toLowerCase())
}

function dateOf(seconds: number): string {
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? 'a time in the far future' : date.toISOString()
}

/** Public keys by their `kid`. */
export type PublicKeys = ReadonlyMap<string, KeyObject>

/** The payload of a signed string, or the problem, worded as the end of a sentence. */
type SignedText = { readonly payload: unknown } | { readonly problem: string }

const MAX_LENGTH = 1_000_000
/** Header, payload, and an Ed25519 signature of 64 bytes. */
const COMPACT = /^([\w-]+)\.[\w-]+\.([\w-]{86})$/
/** The problem with a string that is not a JWS. */
const NOT_SIGNED = 'it is not a signed string'

const HEADER = ['alg', 'kid', 'typ']

/** Reads a compact JWS of the given type that is signed with one of the keys. */
async function readSigned(text: string, typ: string, keys: PublicKeys): Promise<SignedText> {
  const [, encodedHeader = '', signature = ''] = (text.length <= MAX_LENGTH && COMPACT.exec(text)) || []
  // Decoders ignore trailing bits, so one signature could be encoded in several ways.
  if (signature === '' || canonical(signature) !== signature) return { problem: NOT_SIGNED }
  const header = jsonOf(encodedHeader)
  if (typeof header !== 'object' || header === null) return { problem: 'its header is not JSON' }
  // The header must not contain a key, or ask for another way to verify the signature.
  const foreign = Object.keys(header).filter((name) => !HEADER.includes(name))
  if (foreign.length > 0) return { problem: 'its header has parameters other than alg, kid and typ' }
  const { alg, kid, typ: type } = header as Record<string, unknown>
  if (alg !== 'EdDSA') return { problem: 'it is not signed with EdDSA' }
  if (type !== typ) return { problem: `it is not of the type ${typ}` }
  const key = typeof kid === 'string' ? keys.get(kid) : undefined
  if (!key) return { problem: 'it is signed with an unknown key' }
  // Loaded for the first license, because most applications never check one.
  const { compactVerify } = await import('jose')
  try {
    const { payload } = await compactVerify(text, key, { algorithms: ['EdDSA'] })
    return { payload: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload)) }
  } catch {
    return { problem: 'its signature is wrong, so it was changed or is not from the vendor' }
  }
}

function canonical(base64url: string): string {
  return Buffer.from(base64url, 'base64url').toString('base64url')
}

function jsonOf(base64url: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64url, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}

/** `typ` of a signed revocation list. */
const REVOCATIONS_TYPE = 'lic-revocations+jwt'

const revocationClaims = z.object({ iss: z.string(), aud: z.string(), iat: z.int(), jtis: z.array(z.string()) })

/** License keys that a vendor has revoked. */
export interface RevocationList {
  readonly jtis: ReadonlySet<string>
  /** When the list was issued, in Unix seconds. */
  readonly issuedAt: number
}

/** Reads a signed revocation list. If that fails, returns the problem, worded as the end of a sentence. */
export async function readRevocations(
  text: string,
  { keys, issuer, audience }: { keys: PublicKeys; issuer: string; audience: string },
): Promise<RevocationList | { readonly problem: string }> {
  const signed = await readSigned(text.trim(), REVOCATIONS_TYPE, keys)
  if ('problem' in signed) return signed
  const claims = revocationClaims.safeParse(signed.payload)
  if (!claims.success) return { problem: 'it is not a revocation list' }
  const { iss, aud, iat, jtis } = claims.data
  if (iss !== issuer || aud !== audience) return { problem: 'it is from another vendor or for another audience' }
  return { jtis: new Set(jtis), issuedAt: iat }
}

/** An Ed25519 key as a JWK (RFC 8037). With `d`, it is the private key. */
export interface Ed25519Jwk {
  /** Always `OKP`. */
  readonly kty?: string
  /** Always `Ed25519`. */
  readonly crv?: string
  /** The public key in base64url. */
  readonly x?: string
  /** The private key in base64url. */
  readonly d?: string
  readonly [member: string]: unknown
}

/** The vendor's Ed25519 private key. */
export interface SigningKey {
  /** The key, as PEM or JWK. */
  readonly key: string | Ed25519Jwk
  /** Id under which applications know the public key. */
  readonly kid: string
}

/** The terms of a license. */
export interface LicenseGrant {
  /** The vendor, as in the application's `issuer` option. */
  readonly issuer: string
  /** Product id of the add-on, a positive integer. */
  readonly productId: number
  /** Identifies the license, for which several keys may be issued. @default a random UUID */
  readonly licenseId?: string | undefined
  /** Time of issue. @default now */
  readonly issuedAt?: Date | undefined
  /** Start of validity. @default at once */
  readonly notBefore?: Date | undefined
  /** Time of expiry, or null if the license never expires. */
  readonly expiresAt: Date | null
  /** Number of sites, or null if unlimited. @default null */
  readonly quota?: number | null | undefined
  /** What the license includes. The first entry becomes the `plan` of the activation. @default none */
  readonly entitlements?: readonly string[] | undefined
  /** Host names that the license is bound to. @default any */
  readonly sites?: readonly string[] | undefined
  /** The audience, as in the application's `audience` option. @default 'sessmgr' */
  readonly audience?: string | undefined
}

/**
 * Issues an offline license key. Meant for vendors.
 *
 * @throws SessmgrError `invalid_option` if the key is not an Ed25519 private key, or if a term is invalid.
 *
 * @example
 * ```ts
 * const key = await issueLicense(signingKey, { issuer: 'acme', productId: 1001, expiresAt: null })
 * ```
 */
export async function issueLicense(signingKey: SigningKey, grant: LicenseGrant): Promise<string> {
  const { issuer, productId, licenseId = randomUUID(), issuedAt = new Date(), notBefore, expiresAt, sites } = grant
  const claims: LicenseClaims = {
    iss: issuer,
    aud: grant.audience ?? DEFAULT_AUDIENCE,
    sub: licenseId,
    pid: productId,
    iat: secondsOf(issuedAt),
    ...(notBefore && { nbf: secondsOf(notBefore) }),
    exp: expiresAt && secondsOf(expiresAt),
    quota: grant.quota ?? null,
    ent: [...(grant.entitlements ?? [])],
    ...(sites && { sites: [...sites] }),
    jti: randomUUID(),
  }
  const [issue] = licenseClaims.safeParse(claims).error?.issues ?? []
  if (issue) throw new SessmgrError('invalid_option', `The "${issue.path.join('.')}" claim ${issue.message}.`)
  return sign(signingKey, LICENSE_TYPE, claims)
}

/**
 * Issues a revocation list of license keys, given by their ids (`jti`). Meant for vendors.
 *
 * @throws SessmgrError `invalid_option` if the key is not an Ed25519 private key.
 *
 * @example
 * ```ts
 * const list = await issueRevocations(signingKey, { issuer: 'acme', jtis: [idOfKey] })
 * ```
 */
export async function issueRevocations(
  signingKey: SigningKey,
  list: { issuer: string; jtis: readonly string[]; issuedAt?: Date | undefined; audience?: string | undefined },
): Promise<string> {
  const { issuer, jtis, issuedAt = new Date(), audience = DEFAULT_AUDIENCE } = list
  return sign(signingKey, REVOCATIONS_TYPE, { iss: issuer, aud: audience, iat: secondsOf(issuedAt), jtis: [...jtis] })
}

async function sign({ key, kid }: SigningKey, typ: string, claims: object): Promise<string> {
  const { CompactSign } = await import('jose')
  const payload = new TextEncoder().encode(JSON.stringify(claims))
  return new CompactSign(payload).setProtectedHeader({ alg: 'EdDSA', typ, kid }).sign(privateKey(key))
}

function privateKey(key: string | Ed25519Jwk): KeyObject {
  try {
    const read = typeof key === 'string' ? createPrivateKey(key) : createPrivateKey({ key, format: 'jwk' })
    if (read.asymmetricKeyType === 'ed25519') return read
  } catch {
    // The original error is dropped, because its message may contain the key.
  }
  throw new SessmgrError('invalid_option', 'The signing key must be an Ed25519 private key, as PEM or JWK.')
}

function secondsOf(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}
