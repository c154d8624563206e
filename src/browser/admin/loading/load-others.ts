import { queries } from '../screen.ts'
import { LATE_PARTS } from './late-parts.ts'

/** When a busy page is not waited for any longer. */
const IDLE_TIMEOUT_MS = 5_000

/**
 * Loads the code of all parts, so that they open at once, and also after an update of the server. Waits until the open
 * tab has its data and the browser is idle.
 *
 * @param first Responses that the page is waiting for.
 */
export async function loadOthers(first: readonly Promise<unknown>[]): Promise<void> {
  await Promise.all(first)
  await idle()
  await nothingIsRead()
  for (const part of Object.values(LATE_PARTS)) {
    await idle()
    // A part that fails says so when it is opened.
    await part.load().catch(() => {})
  }
}

function nothingIsRead(): Promise<void> {
  return new Promise((resolve) => {
    const stop = queries.getQueryCache().subscribe(look)
    look()
    function look(): void {
      if (queries.isFetching() > 0) return
      stop()
      resolve()
    }
  })
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has no such function.
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve(), { timeout: IDLE_TIMEOUT_MS })
    else setTimeout(resolve)
  })
}
