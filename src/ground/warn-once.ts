import type { Logger } from './logger.ts'

const said = new WeakMap<Logger, Set<string>>()

/** Logs a warning, once for each logger. The message holds nothing that changes from one request to the next. */
export function warnOnce(logger: Logger, message: string): void {
  const messages = said.get(logger) ?? new Set()
  said.set(logger, messages)
  if (messages.has(message)) return
  messages.add(message)
  logger.warn(message)
}
