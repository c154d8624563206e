import type { LicensingCode } from '../licensing/licensing-error.ts'
import { LICENSE_TYPE, type LicenseClaims, licenseClaims } from './license-claims.ts'
import type { RevocationList } from './revocation-list.ts'
import { NOT_SIGNED, type PublicKeys, readSigned } from './signed-text.ts'

/** How far the clocks of vendor and site may differ, in seconds. */
const LEEWAY = 60
/** How far the clock may go back, in seconds, because the clocks of several servers differ. */
const ROLLBACK_LEEWAY = 60 * 60

const NO_KEY = 'This is not a license key. Copy the whole key from the message of your vendor.'

/** What a license is checked against. Times are in Unix seconds. */
export interface LicenseRules {
  readonly keys: PublicKeys
  readonly issuer: string
  readonly audience: string
  readonly now: number
  /** Undefined means any product. */
  readonly productId?: number | undefined
  /** Host name of the site. Without it, licenses that are bound to hosts are invalid. */
  readonly host?: string | undefined
  /** The latest time seen on this site. */
  readonly seenAt?: number | undefined
  readonly revocations?: RevocationList | undefined
}

/** A problem with a license. */
export interface LicenseProblem {
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
    add('license_invalid', `The clock of this server has been turned back: it was already ${dateOf(seen)}.`)
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
