import type { DocumentDriver } from './document-driver.ts'

/**
 * Returns a driver that is opened by its first call. If opening fails, that call fails, and the next call tries again.
 *
 * @param known What works before that.
 */
export function lateDriver(
  known: Pick<DocumentDriver, 'id' | 'local' | 'signals' | 'close'>,
  open: () => Promise<DocumentDriver>,
): DocumentDriver {
  let opening: Promise<DocumentDriver> | undefined
  const opened = () => {
    opening ??= open().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }
  return {
    ...known,
    get: async (...call) => (await opened()).get(...call),
    swap: async (...call) => (await opened()).swap(...call),
    purge: async (...call) => (await opened()).purge(...call),
    wipe: async () => (await opened()).wipe(),
    // Signals do not open the driver, but they may hold a connection.
    close: async () => ((await opening?.catch(() => undefined)) ?? known).close?.(),
  }
}
