import * as z from 'zod/mini'
import { type PublicKeys, readSigned } from './signed-text.ts'

/** `typ` of a signed revocation list. */
export const REVOCATIONS_TYPE = 'lic-revocations+jwt'

const revocationClaims = z.object({ iss: z.string(), aud: z.string(), iat: z.int(), jtis: z.array(z.string()) })

/** License keys that a vendor has revoked. */
export interface RevocationList {
  readonly jtis: ReadonlySet<string>
  /** Unix seconds. */
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
