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
