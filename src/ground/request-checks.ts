import { invalidOption } from './invalid-option.ts'

/**
 * Refuses a request where options belong: what makes a middleware was mounted in place of the middleware.
 *
 * @param call What should have been written.
 * @throws SessmgrError `invalid_option`.
 */
export function refuseRequest(options: unknown, call: string): void {
  const { method, url, headers } = Object(options) as Record<string, unknown>
  if (typeof method !== 'string' || typeof url !== 'string' || typeof headers !== 'object') return
  throw invalidOption(`Write ${call}, with the parentheses: what it returns is the middleware`)
}

/**
 * Refuses a call without the request that it is about.
 *
 * @param call What should have been written.
 * @throws SessmgrError `invalid_option`.
 */
export function requireRequest(request: unknown, call: string): void {
  if (typeof request === 'object' && request !== null) return
  throw invalidOption(`Write ${call}: the request that the call is about is missing`)
}
