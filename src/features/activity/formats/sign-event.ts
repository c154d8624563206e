import type { KeyObject, webcrypto } from 'node:crypto'
import { requireOptions } from '../../../ground/option-checks.ts'
import type { SecurityEventClaims } from './to-caep.ts'

/** How to sign a security event token. */
export interface SignEventOptions {
  /** The private key. */
  readonly key: webcrypto.CryptoKey | KeyObject | webcrypto.JsonWebKey | Uint8Array
  /** The algorithm, such as `ES256`. */
  readonly alg: string
  /** Id of the key, for receivers with several keys. @default none */
  readonly kid?: string | undefined
}

/**
 * Signs a security event token, as receivers of CAEP events expect it.
 *
 * @throws SessmgrError `invalid_option` for an unknown option.
 */
export async function signEvent(claims: SecurityEventClaims, options: SignEventOptions): Promise<string> {
  requireOptions('signEvent', options, ['key', 'alg', 'kid'])
  const { key, alg, kid } = options
  // Loaded on demand, because few applications sign events.
  const { SignJWT } = await import('jose')
  const header = { alg, typ: 'secevent+jwt', ...(kid !== undefined && { kid }) }
  return new SignJWT({ ...claims } as Record<string, unknown>).setProtectedHeader(header).sign(key)
}
