import type { JsonWebKey } from 'node:crypto'
import type { SigningKey } from '../../features/addons/offline/issue-license.ts'
import { checkPublicKeys } from '../../features/addons/offline/offline-options.ts'
import { readRevocations } from '../../features/addons/offline/revocation-list.ts'
import type { PublicKeys } from '../../features/addons/offline/signed-text.ts'
import { CliError } from '../cli-error.ts'
import { readJson, readText } from '../text-files.ts'

/** Returns the default id of a key: the start of its JWK thumbprint. */
export async function thumbprint(key: JsonWebKey): Promise<string> {
  const { calculateJwkThumbprint } = await import('jose')
  return (await calculateJwkThumbprint(publicPart(key))).slice(0, 16)
}

/** Returns the public part of a key. */
export function publicPart({ kty, crv, x }: JsonWebKey): { kty: string; crv: string; x: string } {
  return { kty: String(kty), crv: String(crv), x: String(x) }
}

/** Reads a private key that keygen wrote, or ends the command. */
export function readSigningKey(file: string): SigningKey {
  const { kid, ...key } = Object(readJson(file)) as JsonWebKey & { kid?: unknown }
  if (typeof kid === 'string' && typeof key.d === 'string') return { key, kid }
  throw new CliError(1, `${file} is not a private key from \`sessmgr license keygen\`.`)
}

/** Reads public keys from a file that keygen printed, or from its private key file. */
export function readPublicKeys(file: string): PublicKeys {
  const json = Object(readJson(file)) as JsonWebKey & { kid?: unknown }
  return checkPublicKeys(typeof json.kid === 'string' ? { [json.kid]: publicPart(json) } : (json as never))
}

/** Reads a revocation list, or ends the command. */
export async function readList(file: string, trust: { keys: PublicKeys; issuer: string; audience: string }) {
  const list = await readRevocations(readText(file), trust)
  if ('problem' in list) throw new CliError(1, `The revocation list ${file} is not valid: ${list.problem}.`)
  return list
}
