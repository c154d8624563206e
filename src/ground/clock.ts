/** Returns the current time. Only stores use it, so that the clocks of two processes are never compared. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch. */
  now(): number
}

/** The clock of this machine. */
export const systemClock: Clock = { now: () => Date.now() }

/** Returns a time in milliseconds as whole Unix seconds. */
export function unixSeconds(ms: number): number {
  return Math.floor(ms / 1000)
}
