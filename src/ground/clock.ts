/** Returns the current time. Only stores use it, so that the clocks of two processes are never compared. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch. */
  now(): number
}

/** The clock of this machine. */
export const systemClock: Clock = { now: () => Date.now() }
