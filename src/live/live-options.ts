import { type Declared, requireBoolean, requireObject, resolveDeclared, whole } from '../ground/option-checks.ts'

/** Options of liveConnections(). Omitted and undefined options have their defaults. */
export interface LiveOptions {
  /**
   * Longest time between two checks of a session with open connections, in milliseconds from 100 to 3,600,000.
   * @default 15000
   */
  readonly sweepEvery?: number | undefined
  /**
   * How many milliseconds to keep connections while the store does not respond, from 0 to 3,600,000. @default 60000
   */
  readonly graceMs?: number | undefined
  /** How many milliseconds clients have to confirm that a connection is closed, from 0 to 60,000. @default 2000 */
  readonly closeAfterMs?: number | undefined
  /**
   * Whether messages from a client count as use of its session, so that it does not expire. Pings do not count.
   * @default true
   */
  readonly keepInUse?: boolean | undefined
}

const OPTIONS = {
  sweepEvery: [whole(100, 3_600_000), 15_000],
  graceMs: [whole(0, 3_600_000), 60_000],
  closeAfterMs: [whole(0, 60_000), 2000],
  keepInUse: [requireBoolean, true],
} as const satisfies Declared<LiveOptions>

/** @throws SessmgrError `invalid_option`. */
export function resolveLiveOptions(options: LiveOptions = {}) {
  requireObject('The options of liveConnections()', options)
  return resolveDeclared(OPTIONS, options)
}
