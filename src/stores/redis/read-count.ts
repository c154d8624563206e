import { SessmgrError } from '../../ground/errors.ts'

/**
 * Reads a count that only grows; 0 if there is none.
 *
 * @throws SessmgrError `store_unavailable` for anything except digits: read as a number, it could revive ended
 * sessions.
 */
export function readCount(value: unknown, key: string): number {
  if (value === null || value === undefined) return 0
  if (/^\d{1,15}$/.test(String(value))) return Number(value)
  const cure = 'Set it to a whole number larger than it ever was, such as 1000000'
  throw new SessmgrError('store_unavailable', `The Redis key "${key}" is damaged: it is not a whole number. ${cure}.`)
}
