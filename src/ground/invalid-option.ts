import { SessmgrError } from './errors.ts'

/**
 * Makes the error of an option that cannot be used.
 *
 * @param sentence What is wrong, without the full stop.
 * @param near Known name that a mistyped one most likely meant.
 */
export function invalidOption(sentence: string, near?: string): SessmgrError {
  return new SessmgrError('invalid_option', `${sentence}.${near ? ` Did you mean "${near}"?` : ''}`)
}
