import { invalidOption } from './invalid-option.ts'

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
 * @throws SessmgrError `invalid_option`.
 */
export function requireRequest(request: unknown, call: string): void {
  if (typeof request === 'object' && request !== null) return
  throw invalidOption(`Write ${call}: the request is missing`)
}
