/** Shows a value in a sentence: a text with its quotes, so that '2' does not pass for 2. */
export function inWords(value: unknown): string {
  if (typeof value === 'string') return `the text '${value}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  return String(value)
}
