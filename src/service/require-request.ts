import { invalidOption } from '../ground/invalid-option.ts'

/**
 * Refuses a call that was not given the request that it is about.
 *
 * @param call What should have been written.
 * @throws SessmgrError `invalid_option`.
 */
export function requireRequest(request: unknown, call: string): void {
  if (typeof request === 'object' && request !== null) return
  throw invalidOption(`Write ${call}: the request that the call is about is missing`)
}
