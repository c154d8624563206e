import { requireBoolean, requireKnown, requireObject, requireWhole } from '../ground/option-checks.ts'

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

/** @throws SessmgrError `invalid_option`. */
export function resolveLiveOptions(options: LiveOptions = {}) {
  requireObject('The options of liveConnections()', options)
  requireKnown(options, ['sweepEvery', 'graceMs', 'closeAfterMs', 'keepInUse'])
  const { sweepEvery = 15_000, graceMs = 60_000, closeAfterMs = 2000, keepInUse = true } = options
  requireWhole('sweepEvery', sweepEvery, 100, 3_600_000)
  requireWhole('graceMs', graceMs, 0, 3_600_000)
  requireWhole('closeAfterMs', closeAfterMs, 0, 60_000)
  requireBoolean('keepInUse', keepInUse)
  return { sweepEvery, graceMs, closeAfterMs, keepInUse }
}
