import type { StoredSession } from './session-record.ts'

/** A symbol of the whole process: the entry points of the package may be loaded with a copy of this module each. */
const ENDED = Symbol.for('sessmgr:ended')

/** Notes on an error which sessions the store has ended all the same. No log shows the note: it holds session ids. */
export function noteEnded<E extends object>(error: E, ended: readonly StoredSession[]): E {
  return Object.defineProperty(error, ENDED, { value: ended })
}

/** Returns the sessions that the store has ended although the call failed, or undefined where that is not known. */
export function endedDespite(error: unknown): readonly StoredSession[] | undefined {
  return (Object(error) as { [ENDED]?: readonly StoredSession[] })[ENDED]
}
