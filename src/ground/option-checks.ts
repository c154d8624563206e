import { invalidOption } from './invalid-option.ts'

/**
 * Rejects unknown names.
 *
 * @param sentence Returns the message for an unknown name.
 * @param meant Maps common mistakes, such as `settings.maximum` for `max`, to known names.
 * @throws SessmgrError `invalid_option` with the name and, if it looks mistyped, the nearest known one.
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
 * Rejects anything except an object with known options.
 *
 * @param caller Function that the messages name.
 * @throws SessmgrError `invalid_option`.
 */
export function requireOptions(caller: string, options: object, known: readonly string[]): void {
  requireObject(`The options of ${caller}()`, options)
  requireKnown(options, known, (name) => `${caller}() has no option "${name}"`)
}

/**
 * Rejects anything except an object.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function requireObject(what: string, value: unknown): void {
  if (!isRecord(value)) throw invalidOption(`${what} must be an object`)
}

/** Checks whether a value is an object, and not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Rejects an object that lacks a method.
 *
 * @throws SessmgrError `invalid_option` that names the first missing method.
 */
export function requireMethods(name: string, value: unknown, methods: readonly string[], why = ''): void {
  const missing = methods.find((method) => typeof Object(value)[method] !== 'function')
  if (missing) throw invalidOption(`"${name}.${missing}" must be a function${why}`)
}

/**
 * Rejects anything except an integer within bounds.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function requireWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw invalidOption(`"${name}" must be a whole number from ${least} to ${most}; got ${inWords(value)}`)
}

/**
 * Rejects anything except true and false.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function requireBoolean(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw invalidOption(`"${name}" must be true or false; got ${inWords(value)}`)
}

/** Describes a value in a message. Strings are quoted, which distinguishes '2' from 2. */
export function inWords(value: unknown): string {
  if (typeof value === 'string') return `the string '${value}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  return String(value)
}

/**
 * Returns the known name that was probably meant, or undefined if none is close.
 *
 * @param meant Maps common mistakes to known names.
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
