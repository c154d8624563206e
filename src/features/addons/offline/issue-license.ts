import { createPrivateKey, type KeyObject, randomUUID } from 'node:crypto'
import { SessmgrError } from '../../../ground/errors.ts'
import type { Ed25519Jwk } from './ed25519-jwk.ts'
import { DEFAULT_AUDIENCE, LICENSE_TYPE, type LicenseClaims, licenseClaims } from './license-claims.ts'
import { REVOCATIONS_TYPE } from './revocation-list.ts'

/** The vendor's Ed25519 private key. */
export interface SigningKey {
  /** The key, as PEM or JWK. */
  readonly key: string | Ed25519Jwk
  /** Id under which applications know the public key. */
  readonly kid: string
}

/** The terms of a license. */
export interface LicenseGrant {
  /** The vendor, as in the application's option `issuer`. */
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
  /** The audience, as in the application's option `audience`. @default 'sessmgr' */
  readonly audience?: string | undefined
}

/**
 * Issues an offline license key. Meant for vendors.
 *
 * @throws SessmgrError `invalid_option` if the key is not an Ed25519 private key, or if a term is invalid.
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
  if (issue) throw new SessmgrError('invalid_option', `The claim "${issue.path.join('.')}" ${issue.message}.`)
  return sign(signingKey, LICENSE_TYPE, claims)
}

/**
 * Issues a revocation list of license keys, given by their ids (`jti`). Meant for vendors.
 *
 * @throws SessmgrError `invalid_option` if the key is not an Ed25519 private key.
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
