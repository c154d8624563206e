import type { Clock } from '../ground/clock.ts'

/** A clock that only moves when `advance` is called. */
export interface FakeClock extends Clock {
  /** Moves the clock forward, or back with a negative number of milliseconds. */
  advance(ms: number): void
}

/**
 * Creates a clock that starts now and only moves when `advance` is called.
 *
 * @example
 * ```ts
 * const clock = fakeClock()
 * const limiter = sessmgr({ store: memoryStore({ clock }) })
 * clock.advance(60_000)
 * ```
 */
export function fakeClock(start: number = Date.now()): FakeClock {
  let now = start
  return {
    now: () => now,
    advance(ms) {
      now += ms
    },
  }
}
