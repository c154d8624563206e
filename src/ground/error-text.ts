/**
 * Returns the message of an error. Without one, as when connecting to several addresses fails, returns the message of
 * the first inner error.
 */
export function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { message, errors, code } = error as { message?: unknown; errors?: unknown; code?: unknown }
  if (message) return String(message)
  if (Array.isArray(errors) && errors.length > 0) return messageOf(errors[0])
  return String(code || 'no message')
}

/** Replaces a raw session id in a string that people may read. */
export function hideSessionId(text: string, sessionId: string): string {
  return text.replaceAll(sessionId || '\0', '<session id>')
}

/** Describes an error and its cause in one log line, without the raw session id. */
export function errorText(error: unknown, sessionId: string): string {
  const { cause } = (error ?? {}) as { cause?: unknown }
  const texts = [error, cause].filter((it) => it !== undefined).map(messageOf)
  return hideSessionId(texts.join(' '), sessionId)
}

/**
 * Copies only the code and the reworded message of an error, because clients attach the arguments of the call to their
 * errors.
 */
export function rewordError(error: unknown, reword: (text: string) => string): Error {
  const { code } = (error ?? {}) as { code?: unknown }
  return Object.assign(new Error(reword(messageOf(error))), code === undefined ? {} : { code })
}
