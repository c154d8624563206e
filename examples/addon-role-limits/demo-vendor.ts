import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** What an application knows of the vendor whose licences it believes. */
export interface DemoVendor {
  readonly issuer: string
  /** Public keys by their `kid`. */
  readonly keys: Readonly<Record<string, JsonWebKey>>
}

/**
 * Reads the public keys of the demo's vendor, as `sessmgr license keygen` printed them.
 *
 * A real add-on comes with its vendor's public key. This one has no vendor: whoever tries it makes a key of their own.
 *
 * @throws Error when the file is not there, or is none that keygen printed.
 */
export function demoVendor(file: string): DemoVendor {
  try {
    const keys = JSON.parse(readFileSync(file, 'utf8')) as Record<string, JsonWebKey>
    for (const key of Object.values(keys)) createPublicKey({ key, format: 'jwk' })
    return { issuer: 'demo-vendor', keys }
  } catch (cause) {
    const hint = `npx sessmgr license keygen demo-vendor.json > ${file}`
    throw new Error(`ADDON_ROLE_LIMITS: ${file} holds no public keys. Make some: ${hint}`, { cause })
  }
}
