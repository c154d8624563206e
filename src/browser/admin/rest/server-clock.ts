/** Clock difference that is ignored. The server's header has whole seconds, and takes time to arrive. */
const TOLERANCE_MS = 5_000

/** How far the server's clock is ahead of this one, in milliseconds. */
let ahead = 0

/** Notes the server's time from a response that has just arrived. */
export function noteServerTime(response: Response): void {
  const difference = Date.parse(response.headers.get('Date') ?? '') - Date.now()
  if (Number.isNaN(difference)) return
  ahead = Math.abs(difference) > TOLERANCE_MS ? difference : 0
}

/** Returns the current time by the server's clock, in milliseconds, because the times on the screen are the server's. */
export function serverNow(): number {
  return Date.now() + ahead
}
