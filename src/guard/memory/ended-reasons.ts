import type { SignedOutReason } from '../host-types.ts'

const CAPACITY = 10_000

/** Remembers why the sessions that ended last are over, by their raw id: a browser may ask several times. */
export class EndedReasons {
  readonly #reasons = new Map<string, SignedOutReason>()

  get(sessionId: string): SignedOutReason | undefined {
    return this.#reasons.get(sessionId)
  }

  note(sessionId: string, reason: SignedOutReason): void {
    this.#reasons.delete(sessionId)
    this.#reasons.set(sessionId, reason)
    const [oldest] = this.#reasons.keys()
    if (this.#reasons.size > CAPACITY && oldest !== undefined) this.#reasons.delete(oldest)
  }
}
