import { systemClock } from '../ground/clock.ts'
import { SessmgrError } from '../ground/errors.ts'
import { type Logger, warnOnce } from '../ground/logger.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import { requireKnown, requireObject, requireWhole } from '../ground/option-checks.ts'
import type { UserId } from '../ground/user-id.ts'
import { dropTransient, type TransientStore } from '../options/transient-store.ts'
import { MemoryTransientStore } from '../stores/memory/memory-transient-store.ts'

/** How often something may happen to a user. */
export interface Frequency {
  /** How many times are allowed within the period, from 1 to 100. */
  readonly count: number
  /** Length of the period in minutes, from 1 to 1,440. */
  readonly minutes: number
}

/** A reserved slot within the period, or when the next one is free. */
export type Reservation =
  | { readonly id: string; readonly until?: undefined }
  | { readonly id?: undefined; readonly until: number }

/** The strings of a transient store that can be changed in one step. */
type Strings = Required<Pick<TransientStore, 'get' | 'swap'>>

/** The slots that are taken, with the time of each. */
type Taken = readonly (readonly [id: string, at: number])[]

/** Far more than the calls that can succeed within one period. Only a store that does not keep its word needs so many. */
const MOST_TRIES = 1000

const NO_SWAP =
  'The store has no "transients.swap", so wrong passwords, wrong codes and choices are counted separately in each ' +
  'process, and several processes together allow more. Add the method, or use one of the stores of sessmgr.'

/** The counts of this process, for stores that cannot swap. */
const ownCounts = new WeakMap<TransientStore, MemoryTransientStore>()

/**
 * Limits how often something may happen within a period, across processes. A slot is reserved before the action, so
 * concurrent calls cannot exceed the limit.
 */
export class Reservations {
  readonly #strings: Strings
  readonly #frequency: Frequency

  constructor(transients: TransientStore, frequency: Frequency, logger: Logger) {
    this.#frequency = frequency
    if (canSwap(transients)) this.#strings = transients
    else {
      warnOnce(logger, 'counted-in-each-process', NO_SWAP)
      const own = ownCounts.get(transients) ?? new MemoryTransientStore(systemClock)
      ownCounts.set(transients, own)
      this.#strings = own
    }
  }

  /**
   * Returns when the next slot is free, or undefined if one is free now. Reserves nothing.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  async until(key: string): Promise<number | undefined> {
    return this.#freeAt(this.#recent(await this.#strings.get(key)))
  }

  /**
   * Reserves a slot for the whole period.
   *
   * @throws SessmgrError `store_unavailable`; the slot may or may not be reserved.
   */
  async reserve(key: string): Promise<Reservation> {
    const id = nodeCrypto().randomBytes(9).toString('base64url')
    let reservation: Reservation = { id }
    await changeString(this.#strings, key, this.#lifeMs, (text) => {
      const taken = this.#recent(text)
      const until = this.#freeAt(taken)
      reservation = until === undefined ? { id } : { until }
      if (until === undefined) return textOf([...taken, [id, Date.now()]])
      // Written once, so that the period of an unreadable string comes to an end.
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
    await changeString(this.#strings, key, this.#lifeMs, (text) => {
      const taken = this.#recent(text)
      const left = taken.filter(([other]) => other !== id)
      return left.length < taken.length ? textOf(left) : undefined
    })
  }

  get #lifeMs(): number {
    return this.#frequency.minutes * 60_000
  }

  /**
   * Returns the slots that are taken now. Times ahead, from a process whose clock is fast, count as now. If the string
   * was damaged, all slots count as just taken, because nobody knows how many were.
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

/** Reads the slots of a string. Undefined if it is not such a string. */
function takenIn(text: string): Taken | undefined {
  try {
    const taken: unknown = JSON.parse(text)
    const isSlot = (one: unknown) => Array.isArray(one) && typeof one[0] === 'string' && Number.isFinite(one[1])
    return Array.isArray(taken) && taken.every(isSlot) ? taken : undefined
  } catch {
    return undefined
  }
}

/** Key of a user's guesses of a password, or of the second proof of a choice. */
export const guessesKey = (proof: 'password' | 'choice', userId: UserId): string => `guesses:${proof}:${userId}`

/** Key of a user's choices, which counts from 0 after a password change: see `passwordMark`. */
export const choicesKey = (mark: string, userId: UserId): string => `pending:choices:${mark}:${userId}`

/** Deletes counts from a store, and from this process. */
export async function dropCounts(transients: TransientStore, keys: readonly string[]): Promise<void> {
  const own = ownCounts.get(transients)
  for (const key of keys) {
    await dropTransient(transients, key)
    if (own) await dropTransient(own, key)
  }
}

/** Checks whether a store can change strings in one step. */
export function canSwap(transients: TransientStore): transients is TransientStore & Strings {
  return typeof transients.swap === 'function'
}

/**
 * Changes a string in one step of the store. Starts over if another call has changed it in the meantime.
 *
 * @param change Returns the new string, or undefined to change nothing. May run several times.
 * @throws SessmgrError `store_unavailable`; the string may or may not have changed.
 */
export async function changeString(
  strings: Strings,
  key: string,
  ttlMs: number,
  change: (text: string | undefined) => string | undefined,
): Promise<void> {
  let text = await strings.get(key)
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const next = change(text)
    if (next === undefined) return
    const found = await strings.swap(key, text, next, ttlMs)
    if (found === text) return
    text = found
  }
  throw new SessmgrError('store_unavailable', 'The sessmgr store kept changing the same string. Try again shortly.')
}

/**
 * Checks an option that limits how often something may happen, unless it is undefined.
 *
 * @throws SessmgrError `invalid_option` that names the option.
 */
export function checkFrequency(name: string, frequency: Frequency | undefined): void {
  if (frequency === undefined) return
  requireObject(`"${name}"`, frequency)
  requireKnown(frequency, ['count', 'minutes'], (key) => `"${name}" has no key "${key}"`)
  requireWhole(`${name}.count`, frequency.count, 1, 100)
  requireWhole(`${name}.minutes`, frequency.minutes, 1, 1440)
}
