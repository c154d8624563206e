import { FAILURES, helpAt, type Warning } from './help.ts'

/** Receives log lines for the operator. No line contains a raw session id, password, nonce or key. */
export interface Logger {
  /** Logs a problem that did not cause a failure. `details` is plain data. */
  warn(message: string, details?: object): void
  /** Logs a failure. `details` is plain data, such as the `code` of the error. */
  error(message: string, details?: object): void
}

/** Writes log lines to the console. */
export const consoleLogger: Logger = {
  warn: (message, details) => console.warn(`[sessmgr] ${message}`, ...(details ? [details] : [])),
  error: (message, details) => console.error(`[sessmgr] ${message}`, ...(details ? [details] : [])),
}

/** Returns a logger that never throws or rejects: a broken logger must not fail a request. */
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

/** What each logger has logged that is logged only once: names of warnings, and failures that would repeat. */
const said = new WeakMap<Logger, Set<string>>()

function isFirst(logger: Logger, what: string): boolean {
  const known = said.get(logger) ?? new Set()
  if (known.has(what)) return false
  said.set(logger, known.add(what))
  return true
}

/** Logs a warning, with a link to its section in docs/troubleshooting.md, once per logger. */
export function warn(logger: Logger, warning: Warning, message: string): void {
  if (isFirst(logger, warning)) logger.warn(withHelp(message, warning))
}

/** Logs a failure that the application survives. `details` is plain data, such as the message of the error. */
export function logFailure(logger: Logger, message: string, details?: object): void {
  logger.warn(withHelp(message, FAILURES), ...(details ? [details] : []))
}

/** Logs a failure once per logger and message, because it would repeat. The message must not vary between requests. */
export function logFailureOnce(logger: Logger, message: string, details?: object): void {
  if (isFirst(logger, message)) logFailure(logger, message, details)
}

/**
 * Adds a link to a section. The message may end with another error's message, so a missing full stop is added.
 */
function withHelp(message: string, section: string): string {
  return `${message}${/[.!?…][)"'”’]*$/.test(message) ? '' : '.'} See ${helpAt(section)}`
}

/** Logs an error of this package with a link to its section in docs/troubleshooting.md. */
export function logError(logger: Logger, { message, code }: { message: string; code: string }): void {
  logger.error(withHelp(message, code), { code })
}
