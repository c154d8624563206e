import type { Clock } from '../ground/clock.ts'

/** A clock that only moves when `advance` is called. */
export interface FakeClock extends Clock {
  /** Moves the clock forward, or back with a negative number of milliseconds. */
  advance(ms: number): void
}

/** Creates a clock that starts now and only moves when `advance` is called. */
export function fakeClock(start: number = Date.now()): FakeClock {
  let now = start
  return {
    now: () => now,
    advance(ms) {
      now += ms
    },
  }
}
