import { SessmgrError } from '../ground/errors.ts'

/**
 * Caches strings for a limited time. Entries may disappear at any moment.
 *
 * Rejects with `store_unavailable` if the store cannot be reached.
 */
export interface TransientStore {
  /** Reads a string. Resolves to undefined if it is unknown or has expired. */
  get(key: string): Promise<string | undefined>
  /** Stores a string for `ttlMs` milliseconds. */
  set(key: string, value: string, ttlMs: number): Promise<void>
  /** Reads and deletes a string, atomically. Of concurrent calls, only one resolves to the string. */
  take(key: string): Promise<string | undefined>
  /**
   * Atomically stores a string for `ttlMs` milliseconds if the key still has the string `before`, or no string if
   * `before` is undefined. Resolves to the key's previous string: `before` if the new one was stored.
   */
  swap(key: string, before: string | undefined, value: string, ttlMs: number): Promise<string | undefined>
  /** Reads the generation of a group, which starts at 0. */
  generation(group: string): Promise<number>
  /**
   * Increments the generation of a group, atomically and in constant time. Entries of earlier generations become
   * invalid.
   */
  advance(group: string): Promise<number>
}

/** Far more attempts than concurrent calls can require. Only a store with a faulty `swap` needs so many. */
const MOST_TRIES = 1000

/**
 * Changes a string atomically. Starts over if another call changes it first.
 *
 * @param change Returns the new string, or undefined to change nothing. May run several times.
 * @throws SessmgrError `store_unavailable`; the string may or may not have changed.
 */
export async function changeString(
  transients: TransientStore,
  key: string,
  ttlMs: number,
  change: (text: string | undefined) => string | undefined,
): Promise<void> {
  let text = await transients.get(key)
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const next = change(text)
    if (next === undefined) return
    const found = await transients.swap(key, text, next, ttlMs)
    if (found === text) return
    text = found
  }
  throw new SessmgrError('store_unavailable', 'Other writers kept changing the same entry. Try again shortly.')
}
