/** The sentence of an error. A connection that was tried at several addresses fails without a message of its own. */
export function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { message, errors, code } = error as { message?: unknown; errors?: unknown; code?: unknown }
  if (message) return String(message)
  if (Array.isArray(errors) && errors.length > 0) return messageOf(errors[0])
  return String(code || 'no message')
}

/** Takes a raw session id out of a text that somebody may read. */
export function hideSessionId(text: string, sessionId: string): string {
  return text.replaceAll(sessionId || '\0', '<session id>')
}

/** Tells an error and its cause in one line for the log, without the raw session id that it was about. */
export function errorText(error: unknown, sessionId: string): string {
  const { cause } = (error ?? {}) as { cause?: unknown }
  const texts = [error, cause].filter((it) => it !== undefined).map(messageOf)
  return hideSessionId(texts.join(' '), sessionId)
}

/**
 * An error with the code and, worded anew, the sentence of another. Nothing else is taken over: clients attach what they
 * were called with.
 */
export function rewordError(error: unknown, reword: (text: string) => string): Error {
  const { code } = (error ?? {}) as { code?: unknown }
  return Object.assign(new Error(reword(messageOf(error))), code === undefined ? {} : { code })
}
