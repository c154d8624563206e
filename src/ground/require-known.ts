import { invalidOption } from './invalid-option.ts'
import { nearestName } from './nearest-name.ts'

/**
 * Refuses a name that is none of the known ones.
 *
 * @param meant Known names by what people write in their place, such as `settings.maximum` for `max`.
 * @throws SessmgrError `invalid_option` naming the option and, for a mistyped one, the nearest known name.
 */
export function requireKnown(
  given: object,
  known: readonly string[],
  prefix = '',
  meant: Readonly<Record<string, string>> = {},
): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    const near = (Object.hasOwn(meant, name) ? meant[name] : undefined) ?? nearestName(name, known)
    throw invalidOption(`There is no option "${prefix}${name}"`, near)
  }
}
