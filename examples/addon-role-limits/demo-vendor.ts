import { createPrivateKey, createPublicKey, hkdfSync, type JsonWebKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { issueLicense } from 'sessmgr/licensing'

const ISSUER = 'demo-vendor'
const KID = 'demo'
const DAYS = 30
/** The bytes before the 32 secret bytes of an Ed25519 private key in PKCS #8. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A vendor whose licenses an application accepts. */
export interface DemoVendor {
  readonly issuer: string
  /** Public keys by their `kid`. */
  readonly keys: Readonly<Record<string, JsonWebKey>>
}

/**
 * Reads the public keys of the demo vendor, as printed by `sessmgr license keygen`.
 *
 * A real add-on includes its vendor's public key. This add-on has no vendor, so you create your own key to try it.
 *
 * @throws Error if the file does not exist, or does not contain keys from keygen.
 */
export function demoVendor(file: string): DemoVendor {
  try {
    const keys = JSON.parse(readFileSync(file, 'utf8')) as Record<string, JsonWebKey>
    for (const key of Object.values(keys)) createPublicKey({ key, format: 'jwk' })
    return { issuer: ISSUER, keys }
  } catch (cause) {
    const hint = `npx sessmgr license keygen demo-vendor.json > ${file}`
    throw new Error(`ADDON_ROLE_LIMITS: ${file} contains no public keys. Create them: ${hint}`, { cause })
  }
}

/**
 * Returns the vendor that the example application creates for itself.
 *
 * Its key is derived from the secret, so that all processes of the application accept the same licenses.
 */
export function ownDemoVendor(secret: string): DemoVendor {
  return { issuer: ISSUER, keys: { [KID]: createPublicKey(signingKeyOf(secret)).export({ format: 'jwk' }) } }
}

/** Issues a license from {@link ownDemoVendor}. It is valid for 30 days. */
export function issueDemoLicense(secret: string, productId: number): Promise<string> {
  const key = signingKeyOf(secret).export({ format: 'pem', type: 'pkcs8' }) as string
  const expiresAt = new Date(Date.now() + DAYS * 24 * 60 * 60_000)
  return issueLicense({ key, kid: KID }, { issuer: ISSUER, productId, expiresAt })
}

function signingKeyOf(secret: string): KeyObject {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'the demo vendor of the example', 32))
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' })
}
