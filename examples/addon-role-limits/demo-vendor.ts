import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A vendor whose licenses an application accepts. */
export interface DemoVendor {
  readonly issuer: string
  /** Public keys by their `kid`. */
  readonly keys: Readonly<Record<string, JsonWebKey>>
}

/**
 * Reads the public keys of the demo vendor, as printed by `sessmgr license keygen`.
 *
 * A real add-on includes its vendor's public key. This one has no vendor, so you create your own key to try it.
 *
 * @throws Error if the file does not exist, or does not contain keys from keygen.
 */
export function demoVendor(file: string): DemoVendor {
  try {
    const keys = JSON.parse(readFileSync(file, 'utf8')) as Record<string, JsonWebKey>
    for (const key of Object.values(keys)) createPublicKey({ key, format: 'jwk' })
    return { issuer: 'demo-vendor', keys }
  } catch (cause) {
    const hint = `npx sessmgr license keygen demo-vendor.json > ${file}`
    throw new Error(`ADDON_ROLE_LIMITS: ${file} contains no public keys. Create them: ${hint}`, { cause })
  }
}
