import { SessmgrError } from './errors.ts'
import { nearestName } from './nearest-name.ts'

/**
 * Refuses a name that is none of the known ones.
 *
 * @throws SessmgrError `invalid_option` naming the option and, for a mistyped one, the nearest known name.
 */
export function requireKnown(given: object, known: readonly string[], prefix = ''): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    const near = nearestName(name, known)
    const advice = near ? ` Did you mean "${near}"?` : ''
    throw new SessmgrError('invalid_option', `There is no option "${prefix}${name}".${advice}`)
  }
}
