/** A source of the current time, which tests can replace. */
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
