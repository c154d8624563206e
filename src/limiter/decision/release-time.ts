import { neededSlots } from '../../strategies/slots.ts'
import type { DecidedLimit } from './report-only.ts'

/** A limit that refuses a login, and the mode that decided. */
export type RefusingLimit = Pick<DecidedLimit, 'mode' | 'context' | 'label'>

/**
 * Returns when enough sessions will be over or unused for long enough to admit a refused login. Undefined if none give
 * up their slots.
 */
export function releaseTime({ mode, context }: RefusingLimit): number | undefined {
  const { sessions, idleAfterMs } = context
  // Other modes may not end unused sessions.
  if (!['block', 'ask'].includes(mode) || !Number.isFinite(idleAfterMs)) return undefined
  const free = sessions.map(({ lastSeenAt, expiresAt }) => Math.min(lastSeenAt + idleAfterMs, expiresAt))
  return free.toSorted((a, b) => a - b)[neededSlots(context) - 1]
}
