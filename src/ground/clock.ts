/** Tells the time. Only stores ask it: no verdict ever compares two processes' clocks. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

/** Reads the clock of this machine. */
export const systemClock: Clock = { now: () => Date.now() }
