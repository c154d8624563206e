import { readValue, signValue } from '../../extend.ts'
import { BoundedMap } from '../../ground/bounded-map.ts'

/** How many proofs a process remembers, so that it does not have to check their signatures again. */
const REMEMBERED = 20_000
/**
 * How long a challenge can be answered, in milliseconds. A chip takes up to a few seconds to sign, and the clocks of two
 * servers may differ.
 */
const CHALLENGE_MS = 120_000

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

  /** Returns a new challenge for the holder of a key or, before there is one, of a session. */
  challenge(holder: string): string {
    const now = Date.now()
    return signValue(this.#secrets(), `challenge ${holder}`, now, now + CHALLENGE_MS)
  }

  /** Returns when a challenge was made, or undefined if it is not one of this holder's, or is too old. */
  madeAt(holder: string, challenge: string): number | undefined {
    const signed = readValue(this.#secrets(), `challenge ${holder}`, challenge)
    return signed && signed.expiresAt > Date.now() ? (signed.value as number) : undefined
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
