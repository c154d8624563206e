import type { DocumentDriver } from './document-driver.ts'

/**
 * Returns a driver that is opened by its first call. If opening fails, that call fails, and the next call tries again.
 */
export function lateDriver(
  known: Pick<DocumentDriver, 'id' | 'local' | 'signals'>,
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
    close: async () => (await opening?.catch(() => undefined))?.close?.(),
  }
}
