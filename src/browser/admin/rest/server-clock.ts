/** Clock difference to ignore, because the `Date` header is in whole seconds and takes time to arrive. */
const TOLERANCE_MS = 5_000

/** How far the server's clock is ahead of the browser's, in milliseconds. */
let ahead = 0

/** Updates the clock difference from the time of a response that has just arrived, in milliseconds. */
export function noteServerTime(at: number): void {
  const difference = at - Date.now()
  if (Number.isNaN(difference)) return
  ahead = Math.abs(difference) > TOLERANCE_MS ? difference : 0
}

/** Returns the server's current time in milliseconds, because all times on the screen come from the server. */
export function serverNow(): number {
  return Date.now() + ahead
}
