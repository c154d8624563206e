import { readValue, signValue } from '../../extend.ts'
import { BoundedMap } from '../../ground/bounded-map.ts'
import { nodeCrypto } from '../../ground/node-crypto.ts'

/** How many proofs a process remembers, so that it does not have to check their signatures again. */
const REMEMBERED = 20_000
/**
 * How long a challenge can be answered, in milliseconds. A chip takes up to a few seconds to sign, and the clocks of two
 * servers may differ.
 */
const CHALLENGE_MS = 120_000

/** The purpose of the challenge in the response to a login. It is about the time of the login, and its user. */
export const LOGIN = 'login'

interface Remembered {
  readonly text: string
  readonly until: number
}

/**
 * What the site gives to a browser that has proved that it has a key, and the challenges before that. Both are signed by
 * the site, and neither is stored.
 *
 * How long a proof is good counts from its challenge. So an answer that is sent twice gets the same proof again.
 */
export class DeviceProofs {
  readonly #lifeMs: number
  readonly #remembered = new BoundedMap<string, Remembered>(REMEMBERED)
  /** Returns the secrets of the site, newest first. */
  readonly #secrets: () => readonly string[]

  /** @param lifeMs How many milliseconds a proof is good. */
  constructor(lifeMs: number, secrets: () => readonly string[]) {
    this.#lifeMs = lifeMs
    this.#secrets = secrets
  }

  /**
   * Returns a new challenge.
   *
   * @param purpose The key that is to sign it, or {@link LOGIN}.
   * @param about What {@link readChallenge} returns besides.
   */
  challenge(purpose: string, about: readonly unknown[] = [], lifeMs = CHALLENGE_MS): string {
    const now = Date.now()
    return signValue(this.#secrets(), `challenge ${purpose}`, [now, ...about], now + lifeMs)
  }

  /** Returns when a challenge was made, and what it is about. Undefined if it has another purpose, or is too old. */
  readChallenge<About extends unknown[]>(purpose: string, challenge: string) {
    const signed = readValue(this.#secrets(), `challenge ${purpose}`, challenge)
    return signed && signed.expiresAt > Date.now() ? (signed.value as [madeAt: number, ...About]) : undefined
  }

  /** Returns the proof of a holder who has answered a challenge. @param madeAt When the challenge was made. */
  prove(holder: string, madeAt: number): string {
    return signValue(this.#secrets(), `proof ${holder}`, 0, madeAt + this.#lifeMs)
  }

  /**
   * Checks whether a request has a proof of this holder that is still good.
   *
   * @param cookies Its `Cookie` header. Who sends the last proof anywhere in it has it, so it need not be parsed then.
   * @param find Finds the proof in the header.
   */
  isGood(holder: string, cookies: string, find: () => string | undefined): boolean {
    const known = this.#remembered.get(holder)
    if (known && cookies.includes(known.text)) return known.until > Date.now()
    const text = find()
    if (text === undefined) return false
    const signed = readValue(this.#secrets(), `proof ${holder}`, text)
    if (!signed) return false
    this.#remembered.set(holder, { text, until: signed.expiresAt })
    return signed.expiresAt > Date.now()
  }
}

/** A point of P-256, compressed: its sign and its x coordinate. */
const POINT_BYTES = 33
/** What precedes such a point in a public key in DER. */
const DER_PREFIX = Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex')

/** What a browser sends to prove that it has a private key. */
export interface ChallengeAnswer {
  /** The challenge that it has signed. */
  readonly challenge: string
  /** The public key that it has sent along, as it does at the registration. */
  readonly key: string | undefined
  /** Checks whether the answer was signed with the private key of this public key. */
  isSignedBy(key: string): boolean
}

/** Reads the `Secure-Session-Response` header: a JWT of a browser. Returns undefined for anything else. */
export function readAnswer(header: string | undefined): ChallengeAnswer | undefined {
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
