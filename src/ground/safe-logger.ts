import type { Logger } from './logger.ts'

/** Returns a logger that never throws and never rejects: a broken logger must not fail the request that it reports on. */
export function safeLogger(logger: Logger): Logger {
  return {
    warn: (...line) => attempt(() => logger.warn(...line)),
    error: (...line) => attempt(() => logger.error(...line)),
  }
}

function attempt(write: () => unknown): void {
  try {
    // The types allow an async function here.
    Promise.resolve(write()).catch(() => {})
  } catch {
    // There is nowhere left to report this.
  }
}
