import { createPrivateKey, type KeyObject, randomUUID } from 'node:crypto'
import { SessmgrError } from '../../../ground/errors.ts'
import type { Ed25519Jwk } from './ed25519-jwk.ts'
import { DEFAULT_AUDIENCE, LICENSE_TYPE, type LicenseClaims, licenseClaims } from './license-claims.ts'
import { REVOCATIONS_TYPE } from './revocation-list.ts'

/** The vendor's Ed25519 private key. */
export interface SigningKey {
  /** PEM, or JWK. */
  readonly key: string | Ed25519Jwk
  /** Name under which applications know the public key. */
  readonly kid: string
}

/** What a vendor says of a licence. */
export interface LicenseGrant {
  /** The vendor, as applications name it in the option `issuer`. */
  readonly issuer: string
  /** Product id of the add-on: a positive integer. */
  readonly productId: number
  /** Names the licence; several keys may be issued for one. @default a random UUID */
  readonly licenseId?: string | undefined
  /** When it was issued. @default now */
  readonly issuedAt?: Date | undefined
  /** When it begins to be good. @default at once */
  readonly notBefore?: Date | undefined
  /** When it expires; null: never. */
  readonly expiresAt: Date | null
  /** Sites it is sold for; null: any number. @default null */
  readonly quota?: number | null | undefined
  /** What it entitles to; the first becomes `plan` of the activation. @default none */
  readonly entitlements?: readonly string[] | undefined
  /** Hosts that it is bound to. @default any */
  readonly sites?: readonly string[] | undefined
  /** Whom it is for, as applications name themselves in the option `audience`. @default 'sessmgr' */
  readonly audience?: string | undefined
}

/**
 * Issues a licence key for the offline kind. For vendors.
 *
 * @throws SessmgrError `invalid_option` for a key that is no Ed25519 private key, and for what no licence can say.
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
 * Issues a revocation list: the ids (`jti`) of the licence keys that are good no more. For vendors.
 *
 * @throws SessmgrError `invalid_option` for a key that is no Ed25519 private key.
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
    // Said below, in words of our own: those of the library may show the key.
  }
  throw new SessmgrError('invalid_option', 'The signing key must be an Ed25519 private key, as PEM or JWK.')
}

function secondsOf(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}
