import { type HelpTopic, helpAt } from './help.ts'

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

/** Start of the warning about a `sessionUser` that returns no id. */
export const WRONG_READER = `"sessionUser" must return the user's id, a string or an integer`

const said = new WeakMap<Logger, Set<string>>()

/** Logs a warning with a link to its section in docs/troubleshooting.md. */
export function warn(logger: Logger, topic: HelpTopic, message: string, details?: object): void {
  logger.warn(withHelp(message, topic), ...(details ? [details] : []))
}

/**
 * Adds a link to a section. The message may end with another error's message, so a missing full stop is added.
 */
function withHelp(message: string, section: string): string {
  return `${message}${/[.!?…][)"'”’]*$/.test(message) ? '' : '.'} See ${helpAt(section)}`
}

/** Checks whether `warnOnce` has logged a warning that starts with these words. */
export function wasWarned(logger: Logger, start: string): boolean {
  return [...(said.get(logger) ?? [])].some((message) => message.startsWith(start))
}

/** Logs a warning once per logger. The message must not vary between requests. */
export function warnOnce(logger: Logger, topic: HelpTopic, message: string): void {
  const messages = said.get(logger) ?? new Set()
  said.set(logger, messages)
  if (messages.has(message)) return
  messages.add(message)
  warn(logger, topic, message)
}

/** Logs an error of this package with a link to its section in docs/troubleshooting.md. */
export function logError(logger: Logger, { message, code }: { message: string; code: string }): void {
  logger.error(withHelp(message, code), { code })
}
