import type { KeyObject } from 'node:crypto'

/** Public keys by their `kid`. */
export type PublicKeys = ReadonlyMap<string, KeyObject>

/** The payload of a signed string, or the problem, worded as the end of a sentence. */
export type SignedText = { readonly payload: unknown } | { readonly problem: string }

const MAX_LENGTH = 1_000_000
/** Header, payload, and an Ed25519 signature of 64 bytes. */
const COMPACT = /^([\w-]+)\.[\w-]+\.([\w-]{86})$/
/** The problem with a string that is not a JWS. */
export const NOT_SIGNED = 'it is not a signed string'

const HEADER = ['alg', 'kid', 'typ']

/** Reads a compact JWS of the given type that is signed with one of the keys. */
export async function readSigned(text: string, typ: string, keys: PublicKeys): Promise<SignedText> {
  const [, encodedHeader = '', signature = ''] = (text.length <= MAX_LENGTH && COMPACT.exec(text)) || []
  // Decoders ignore bits after the last byte, so one signature could be spelled in several ways.
  if (signature === '' || canonical(signature) !== signature) return { problem: NOT_SIGNED }
  const header = jsonOf(encodedHeader)
  if (typeof header !== 'object' || header === null) return { problem: 'its header is not JSON' }
  // The signed string itself must not choose how, or with which key, it is verified.
  const foreign = Object.keys(header).filter((name) => !HEADER.includes(name))
  if (foreign.length > 0) return { problem: 'its header has parameters other than alg, kid and typ' }
  const { alg, kid, typ: type } = header as Record<string, unknown>
  if (alg !== 'EdDSA') return { problem: 'it is not signed with EdDSA' }
  if (type !== typ) return { problem: `it is not of the type ${typ}` }
  const key = typeof kid === 'string' ? keys.get(kid) : undefined
  if (!key) return { problem: 'it is signed with an unknown key' }
  // Loaded for the first license, because most applications never check one.
  const { compactVerify } = await import('jose')
  try {
    const { payload } = await compactVerify(text, key, { algorithms: ['EdDSA'] })
    return { payload: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload)) }
  } catch {
    return { problem: 'its signature is invalid: it was changed, or not signed by the vendor' }
  }
}

function canonical(base64url: string): string {
  return Buffer.from(base64url, 'base64url').toString('base64url')
}

function jsonOf(base64url: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64url, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}
