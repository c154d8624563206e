import type { StoredSession } from './session-record.ts'

/** A global symbol: each entry point may load its own copy of this module. */
const ENDED = Symbol.for('sessmgr:ended')

/**
 * Attaches the sessions that the store has ended to an error. The property is not enumerable, so logs do not show the
 * session ids.
 */
export function noteEnded<E extends object>(error: E, ended: readonly StoredSession[]): E {
  return Object.defineProperty(error, ENDED, { value: ended })
}

/** Returns the sessions that the store has ended although the call failed; undefined if unknown. */
export function endedDespite(error: unknown): readonly StoredSession[] | undefined {
  return (Object(error) as { [ENDED]?: readonly StoredSession[] })[ENDED]
}
