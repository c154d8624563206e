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
export function requireOptions(
  caller: string,
  options: object,
  known: readonly string[],
  meant?: Readonly<Record<string, string>>,
): void {
  requireObject(`The options of ${caller}()`, options)
  requireKnown(options, known, (name) => `${caller}() has no option "${name}"`, meant)
}

/**
 * Rejects anything except an object.
 *
 * @param example What the message shows as a correct value.
 * @throws SessmgrError `invalid_option`.
 */
export function requireObject(what: string, value: unknown, example?: string): void {
  if (!isRecord(value)) throw invalidOption(`${what} must be an object${example ? ` such as ${example}` : ''}`)
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
  return typeof value === 'object' || typeof value === 'function' ? typeInWords(value) : String(value)
}

/** Describes the type of a value in a message that must not show the value. */
export function typeInWords(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (typeof (value as { then?: unknown }).then === 'function') return 'a promise'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
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

/**
 * Rejects a request passed as options: someone mounted the function that creates the middleware without calling it.
 *
 * @param call The correct call.
 * @throws SessmgrError `invalid_option`.
 */
export function refuseRequest(options: unknown, call: string): void {
  const { method, url, headers } = Object(options) as Record<string, unknown>
  if (typeof method !== 'string' || typeof url !== 'string' || typeof headers !== 'object') return
  throw invalidOption(`Write ${call}, with parentheses: the result is the middleware`)
}

/**
 * Rejects a call that lacks its request.
 *
 * @param call The correct call.
 * @param second The argument after the request. It may be the request, by mistake.
 * @throws SessmgrError `invalid_option`.
 */
export function requireRequest(request: unknown, call: string, second?: unknown): void {
  if (isRequest(request)) return
  throw invalidOption(`The request ${isRequest(second) ? 'comes first' : 'is missing'}: write ${call}`)
}

/** Checks whether a value is a request, or holds one as in Fastify and Koa. */
function isRequest(value: unknown): boolean {
  const { headers, raw, req } = Object(value) as { headers?: unknown; raw?: unknown; req?: unknown }
  return [headers, raw, req].some((one) => typeof one === 'object' && one !== null)
}

/** Checks the value of an option. @throws SessmgrError `invalid_option` that names the option. */
// biome-ignore lint/suspicious/noExplicitAny: a value is checked before anything is known about it.
export type Rule = (name: string, value: any) => void

/** Declares every option of a function: the rule for its values and, if it has one, its default. */
export type Declared<Options> = {
  readonly [Name in keyof Options]-?: readonly [Rule] | readonly [Rule, NonNullable<Options[Name]>]
}

/** Options after {@link resolveDeclared}: those with a default always have a value. */
export type Resolved<Options, Declarations extends Declared<Options>> = {
  readonly [Name in keyof Options]-?: Declarations[Name] extends readonly [Rule, unknown]
    ? NonNullable<Options[Name]>
    : Options[Name]
}

/**
 * Checks options, and adds the defaults of those that are omitted or undefined.
 *
 * @param where The function that the messages name, or the option that the options are `within`.
 * @throws SessmgrError `invalid_option` that names the option.
 */
export function resolveDeclared<Options extends object, const Declarations extends Declared<Options>>(
  declared: Declarations,
  options: Options,
  where: { readonly caller?: string; readonly within?: string } = {},
): Resolved<Options, Declarations> {
  const { caller, within } = where
  const prefix = within === undefined ? '' : `${within}.`
  const entries = Object.entries(declared) as [string, readonly [Rule, unknown?]][]
  const known = Object.keys(declared)
  if (caller === undefined) requireKnown(options, known, (name) => `There is no option "${prefix}${name}"`)
  else requireOptions(caller, options, known)
  const given = options as Readonly<Record<string, unknown>>
  const values = entries.map(([name, [rule, standard]]) => {
    const value = given[name]
    if (value !== undefined) rule(prefix + name, value)
    return [name, value === undefined ? standard : value]
  })
  return Object.fromEntries(values)
}

/** Requires values that pass a check. @param sentence What the value must do, such as "be a color". */
export function must(sentence: string, isValid: (value: unknown) => boolean): Rule {
  return (name, value) => {
    if (!isValid(value)) throw invalidOption(`"${name}" must ${sentence}`)
  }
}

/** Requires a function. @param example A valid function, to show in messages. */
export function callable(example?: string): Rule {
  const sentence = `be a function${example === undefined ? '' : ` such as ${example}`}`
  return must(sentence, (value) => typeof value === 'function')
}

/** Requires one of several values. */
export function oneOf(...known: readonly unknown[]): Rule {
  return (name, value) => {
    if (!known.includes(value))
      throw invalidOption(`"${name}" must be one of ${known.join(', ')}; got ${inWords(value)}`)
  }
}

/** Requires an integer within bounds. */
export function whole(least: number, most: number): Rule {
  return (name, value) => requireWhole(name, value, least, most)
}

/**
 * Requires an object with known keys, and checks each value with the rule for its key.
 *
 * @param kind What messages call a key.
 */
export function keysOf(rules: Readonly<Record<string, Rule>>, kind = 'key'): Rule {
  return (name, value) => {
    requireObject(`"${name}"`, value)
    requireKnown(value, Object.keys(rules), (key) => `"${name}" has no ${kind} "${key}"`)
    for (const [key, rule] of Object.entries(rules)) {
      if (value[key] !== undefined) rule(`${name}.${key}`, value[key])
    }
  }
}
