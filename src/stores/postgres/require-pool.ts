import { invalidOption } from '../../ground/invalid-option.ts'

/**
 * Rejects anything except a connection pool.
 *
 * @param caller Function that the message names.
 * @throws SessmgrError `invalid_option`.
 */
export function requirePool(caller: string, pool: unknown): void {
  if (typeof Object(pool).query !== 'function') {
    throw invalidOption(`"pool" is missing. Pass a pool from the pg package: ${caller}({ pool: new Pool() })`)
  }
  // The first property is from a client taken from a pool, the second from a standalone client. A pool has neither.
  if ('release' in Object(pool) || 'connectionParameters' in Object(pool)) {
    throw invalidOption('"pool" is a single client, which may be in a transaction. Pass the pool itself')
  }
}
