import { invalidOption } from './invalid-option.ts'
import { nearestName } from './nearest-name.ts'

/**
 * Refuses a name that is none of the known ones.
 *
 * @throws SessmgrError `invalid_option` naming the option and, for a mistyped one, the nearest known name.
 */
export function requireKnown(given: object, known: readonly string[], prefix = ''): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    throw invalidOption(`There is no option "${prefix}${name}"`, nearestName(name, known))
  }
}
