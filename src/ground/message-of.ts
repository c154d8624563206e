/** The sentence of an error. A connection that was tried at several addresses fails without a message of its own. */
export function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { message, errors, code } = error as { message?: unknown; errors?: unknown; code?: unknown }
  if (message) return String(message)
  if (Array.isArray(errors) && errors.length > 0) return messageOf(errors[0])
  return String(code || 'no message')
}
