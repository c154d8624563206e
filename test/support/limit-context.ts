import type { LimitContext } from '../../src/strategies/limit-strategy.ts'
import { sessionRecords } from './session-records.ts'

/** Returns the context of a mode: by default, user 7 with one session at maximum 1. */
export function limitContext(given: Partial<LimitContext> = {}): LimitContext {
  return {
    userId: 7,
    sessions: sessionRecords(1),
    maximum: 1,
    chosen: [],
    others: [],
    neverUsed: [],
    now: 1000,
    idleAfterMs: Number.POSITIVE_INFINITY,
    ...given,
  }
}
