import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import { issueLicense, issueRevocations, type LicenseGrant, type OfflineAddon } from '../../../src/licensing.ts'

/** The catalogue of the offline tests. */
export const OFFLINE_ADDONS: readonly OfflineAddon[] = [
  { id: 1001, slug: 'per-role', title: 'Limit per role', is_premium: true, homepage: 'https://example.test/role' },
  { id: 1002, slug: 'per-user', title: 'Limit per user', is_premium: true, icon: '/img/user.png' },
  { id: 1003, slug: 'export', title: 'Export', is_premium: false },
]

export type OfflineVendor = ReturnType<typeof createVendor>

/** Makes a vendor with a fresh key, who signs licenses, and everything that an application knows of him. */
export function createVendor(kid = 'key-1', issuer = 'acme') {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const publicJwk = publicKey.export({ format: 'jwk' })
  const privateJwk = privateKey.export({ format: 'jwk' })
  const signing = { key: privateJwk, kid }
  return {
    kid,
    issuer,
    publicJwk,
    privateJwk,
    publicPem: publicKey.export({ format: 'pem', type: 'spki' }) as string,
    privatePem: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
    /** What goes into the options. */
    trust: { issuer, keys: { [kid]: publicJwk } as Record<string, JsonWebKey> },
    /** Issues a license: for ever, unless the grant says otherwise. */
    issue: (productId: number, grant?: Partial<LicenseGrant>) =>
      issueLicense(signing, { issuer, productId, expiresAt: null, ...grant }),
    revoke: (keys: readonly string[], issuedAt?: Date) =>
      issueRevocations(signing, { issuer, jtis: keys.map((key) => String(claimsOf(key).jti)), issuedAt }),
  }
}

/** Reads what a license says, signed or not. */
export function claimsOf(key: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(key.split('.')[1] ?? '', 'base64url').toString())
}
