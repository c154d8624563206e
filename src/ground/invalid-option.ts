import { SessmgrError } from './errors.ts'

/**
 * Creates the error for an invalid option.
 *
 * @param sentence The problem, without the full stop.
 * @param near The name that was probably meant, if the given one looks mistyped.
 */
export function invalidOption(sentence: string, near?: string): SessmgrError {
  return new SessmgrError('invalid_option', `${sentence}.${near ? ` Did you mean "${near}"?` : ''}`)
}
