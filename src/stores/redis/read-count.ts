import { SessmgrError } from '../../ground/errors.ts'

/**
 * Reads a counter that only grows. Returns 0 if it does not exist.
 *
 * @throws SessmgrError `store_unavailable` for anything except digits. Reading it as a number could make ended sessions
 * valid again.
 */
export function readCount(value: unknown, key: string): number {
  if (value === null || value === undefined) return 0
  if (/^\d{1,15}$/.test(String(value))) return Number(value)
  const cure = 'Set it to a whole number larger than it has ever been, such as 1000000'
  throw new SessmgrError('store_unavailable', `The Redis key "${key}" is damaged: it is not a whole number. ${cure}.`)
}
