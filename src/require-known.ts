import { invalidOption } from './invalid-option.ts'
import { nearestName } from './nearest-name.ts'

/**
 * Refuses a name that is none of the known ones.
 *
 * @param inside Known names inside of others, such as `settings.maximum`: the last part alone most likely means that.
 * @throws SessmgrError `invalid_option` naming the option and, for a mistyped one, the nearest known name.
 */
export function requireKnown(
  given: object,
  known: readonly string[],
  prefix = '',
  inside: readonly string[] = [],
): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    const near = inside.find((path) => path.endsWith(`.${name}`)) ?? nearestName(name, known)
    throw invalidOption(`There is no option "${prefix}${name}"`, near)
  }
}
