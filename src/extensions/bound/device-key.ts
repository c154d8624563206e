import { nodeCrypto } from '../../ground/node-crypto.ts'

/** A point of P-256, compressed: its sign and its x coordinate. */
const POINT_BYTES = 33
/** What precedes such a point in a public key in DER. */
const DER_PREFIX = Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex')

/** What a browser sends to prove that it has a private key. */
export interface DeviceProof {
  /** The challenge that it has signed. */
  readonly challenge: string
  /** The public key that it has sent along, as it does at the registration. */
  readonly key: string | undefined
  /** Checks whether the proof was signed with the private key of this public key. */
  isSignedBy(key: string): boolean
}

/** Reads the `Secure-Session-Response` header: a JWT of a browser. Returns undefined for anything else. */
export function readProof(header: string | undefined): DeviceProof | undefined {
  const [, signed, signature] = /^([\w-]+\.[\w-]+)\.([\w-]+)$/.exec(header ?? '') ?? []
  if (signed === undefined || signature === undefined) return undefined
  const [head, body] = signed.split('.').map(objectIn)
  if (head?.typ !== 'dbsc+jwt' || head.alg !== 'ES256' || typeof body?.jti !== 'string') return undefined
  return {
    challenge: body.jti,
    key: pointOf(head.jwk),
    isSignedBy(key) {
      const spki = Buffer.concat([DER_PREFIX, Buffer.from(key, 'base64url')])
      try {
        const publicKey = nodeCrypto().createPublicKey({ key: spki, format: 'der', type: 'spki' })
        const how = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
        return nodeCrypto().verify('sha256', Buffer.from(signed), how, Buffer.from(signature, 'base64url'))
      } catch {
        // Not every x coordinate belongs to a point.
        return false
      }
    },
  }
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    return Object(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch {
    return undefined
  }
}

/** Returns a public key in the form in which it is stored, or undefined if it is none of P-256. */
function pointOf(jwk: unknown): string | undefined {
  const { kty, crv, x, y } = Object(jwk) as Record<string, unknown>
  if (kty !== 'EC' || crv !== 'P-256' || typeof x !== 'string' || typeof y !== 'string') return undefined
  const [first, second] = [x, y].map((text) => Buffer.from(text, 'base64url')) as [Buffer, Buffer]
  const point = Buffer.concat([Buffer.from([2 + ((second.at(-1) ?? 0) % 2)]), first])
  return point.length === POINT_BYTES && second.length === POINT_BYTES - 1 ? point.toString('base64url') : undefined
}
