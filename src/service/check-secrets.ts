import { invalidOption } from '../ground/invalid-option.ts'

/**
 * Checks the option `secret`.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function checkSecrets(secret: string | readonly string[] | undefined): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : (secret ?? [])
  const good = Array.isArray(secrets) && secrets.every((one) => typeof one === 'string' && one.length >= 32)
  if (!good || (secret !== undefined && secrets.length === 0)) {
    throw invalidOption(
      '"secret" must be a string of at least 32 characters, or an array of such strings, newest first',
    )
  }
  return secrets
}
