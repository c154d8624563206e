import { nodeCrypto } from '../ground/node-crypto.ts'
import type { UserId } from '../ground/user-id.ts'
import { changeString, type TransientStore } from '../options/transient-store.ts'

/** How often something may happen per user. */
export interface Frequency {
  /** How many times are allowed within the period, from 1 to 100. */
  readonly count: number
  /** Length of the period in minutes, from 1 to 1,440. */
  readonly minutes: number
}

/** A reserved slot within the period, or the time when the next slot is free. */
export type Reservation =
  | { readonly id: string; readonly until?: undefined }
  | { readonly id?: undefined; readonly until: number }

/** The taken slots, each with the time when it was taken. */
type Taken = readonly (readonly [id: string, at: number])[]

/**
 * Limits how often something may happen within a period, across processes. Slots are reserved before the action, so
 * concurrent calls cannot exceed the limit.
 */
export class Reservations {
  readonly #transients: TransientStore
  readonly #frequency: Frequency

  constructor(transients: TransientStore, frequency: Frequency) {
    this.#transients = transients
    this.#frequency = frequency
  }

  /**
   * Returns when the next slot is free, or undefined if one is free now. Reserves nothing.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  async until(key: string): Promise<number | undefined> {
    return this.#freeAt(this.#recent(await this.#transients.get(key)))
  }

  /**
   * Reserves a slot for the whole period, or returns when the next one is free.
   *
   * @throws SessmgrError `store_unavailable`; the slot may or may not be reserved.
   */
  async reserve(key: string): Promise<Reservation> {
    const id = nodeCrypto().randomBytes(9).toString('base64url')
    let reservation: Reservation = { id }
    await changeString(this.#transients, key, this.#lifeMs, (text) => {
      const taken = this.#recent(text)
      const until = this.#freeAt(taken)
      reservation = until === undefined ? { id } : { until }
      if (until === undefined) return textOf([...taken, [id, Date.now()]])
      // An unreadable string is replaced once, so that its period comes to an end.
      return text !== undefined && takenIn(text) === undefined ? textOf(taken) : undefined
    })
    return reservation
  }

  /**
   * Frees a slot whose action did not happen.
   *
   * @throws SessmgrError `store_unavailable`; the slot then stays taken until the period is over.
   */
  async giveBack(key: string, { id }: Reservation): Promise<void> {
    await changeString(this.#transients, key, this.#lifeMs, (text) => {
      const taken = this.#recent(text)
      const left = taken.filter(([other]) => other !== id)
      return left.length < taken.length ? textOf(left) : undefined
    })
  }

  get #lifeMs(): number {
    return this.#frequency.minutes * 60_000
  }

  /**
   * Returns the slots that are taken now. Times in the future, from a process whose clock is fast, count as now. If the
   * string was damaged, all slots count as just taken, because nobody knows how many are.
   */
  #recent(text: string | undefined): Taken {
    const now = Date.now()
    const taken = text === undefined ? [] : takenIn(text)
    if (!taken) return Array.from({ length: this.#frequency.count }, (_, index) => [`unknown-${index}`, now] as const)
    return taken.filter(([, at]) => now - at < this.#lifeMs).map(([id, at]) => [id, Math.min(at, now)])
  }

  #freeAt(taken: Taken): number | undefined {
    const times = taken.map(([, at]) => at).toSorted((one, other) => one - other)
    const first = times.at(-this.#frequency.count)
    return first === undefined ? undefined : first + this.#lifeMs
  }
}

const textOf = (taken: Taken): string => JSON.stringify(taken)

/** Reads the taken slots from a string. Returns undefined if it is unreadable. */
function takenIn(text: string): Taken | undefined {
  try {
    const taken: unknown = JSON.parse(text)
    const isSlot = (one: unknown) => Array.isArray(one) && typeof one[0] === 'string' && Number.isFinite(one[1])
    return Array.isArray(taken) && taken.every(isSlot) ? taken : undefined
  } catch {
    return undefined
  }
}

/** Returns the key for counting a user's guesses at a password, or at the second proof for a choice. */
export const guessesKey = (proof: 'password' | 'choice', userId: UserId): string => `guesses:${proof}:${userId}`

/** Returns the key for counting a user's choices. The count restarts after a password change; see `passwordMark`. */
export const choicesKey = (mark: string, userId: UserId): string => `pending:choices:${mark}:${userId}`
