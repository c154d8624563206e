/** Receives what an operator should know. Never gets a raw session id, password, nonce or key. */
export interface Logger {
  /** Notes what goes on working but should be looked at; `details` is plain data. */
  warn(message: string, details?: object): void
  /** Notes what failed; `details` is plain data, such as the `code` of the error. */
  error(message: string, details?: object): void
}

/** Writes to the console. */
export const consoleLogger: Logger = {
  warn: (message, details) => console.warn(`[sessmgr] ${message}`, ...(details ? [details] : [])),
  error: (message, details) => console.error(`[sessmgr] ${message}`, ...(details ? [details] : [])),
}

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

const said = new WeakMap<Logger, Set<string>>()

/** Logs a warning, once for each logger. The message holds nothing that changes from one request to the next. */
export function warnOnce(logger: Logger, message: string): void {
  const messages = said.get(logger) ?? new Set()
  said.set(logger, messages)
  if (messages.has(message)) return
  messages.add(message)
  logger.warn(message)
}
