import { invalidOption } from './invalid-option.ts'

/**
 * Refuses a name that is none of the known ones.
 *
 * @param sentence Says what is wrong with a name.
 * @param meant Known names by what people write in their place, such as `settings.maximum` for `max`.
 * @throws SessmgrError `invalid_option` naming the option and, for a mistyped one, the nearest known name.
 */
export function requireKnown(
  given: object,
  known: readonly string[],
  sentence: (name: string) => string = (name) => `There is no option "${name}"`,
  meant: Readonly<Record<string, string>> = {},
): void {
  for (const name of Object.keys(given)) {
    if (!known.includes(name)) throw invalidOption(sentence(name), nearestName(name, known, meant))
  }
}

/**
 * Refuses anything but an object.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function requireObject(what: string, value: unknown): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  throw invalidOption(`${what} must be an object`)
}

/**
 * Refuses an object of the application that lacks a method.
 *
 * @throws SessmgrError `invalid_option` naming the first one that is missing.
 */
export function requireMethods(name: string, value: unknown, methods: readonly string[], why = ''): void {
  const missing = methods.find((method) => typeof Object(value)[method] !== 'function')
  if (missing) throw invalidOption(`"${name}.${missing}" must be a function${why}`)
}

/**
 * Refuses anything but a whole number within bounds.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function requireWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw invalidOption(`"${name}" must be a whole number from ${least} to ${most}; it is ${inWords(value)}`)
}

/** Shows a value in a sentence: a text with its quotes, so that '2' does not pass for 2. */
export function inWords(value: unknown): string {
  if (typeof value === 'string') return `the text '${value}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  return String(value)
}

/**
 * Finds the known name that a mistyped one most likely meant, or undefined when none is near.
 *
 * @param meant Known names by what people write in their place.
 */
export function nearestName(
  given: string,
  known: readonly string[],
  meant: Readonly<Record<string, string>> = {},
): string | undefined {
  if (Object.hasOwn(meant, given)) return meant[given]
  const ranked = known
    .map((name) => ({ name, distance: editDistance(given.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  const best = ranked[0]
  return best && best.distance <= Math.max(2, Math.floor(given.length / 3)) ? best.name : undefined
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, substitution))
    }
    previous = row
  }
  return previous[b.length] ?? 0
}
