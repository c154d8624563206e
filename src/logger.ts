/** Receives what an operator should know. Never gets a raw session id, password, nonce or key. */
export interface Logger {
  warn(message: string, details?: object): void
  error(message: string, details?: object): void
}

/** Writes to the console. */
export const consoleLogger: Logger = {
  warn: (message, details) => console.warn(`[sessmgr] ${message}`, ...(details ? [details] : [])),
  error: (message, details) => console.error(`[sessmgr] ${message}`, ...(details ? [details] : [])),
}
