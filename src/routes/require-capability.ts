import type { Host } from '../host/host.ts'
import type { Caller } from './caller.ts'
import { RestError } from './rest-error.ts'

/**
 * Checks that a caller has a capability.
 *
 * @throws RestError `rest_forbidden` with 401 for an anonymous caller, or 403 for one without the capability.
 */
export async function requireCapability(
  host: Pick<Host, 'can'>,
  caller: Caller | undefined,
  capability: string,
): Promise<Caller> {
  const known = await requireCaller(caller)
  if (!(await host.can(known.user, capability))) {
    throw new RestError(403, 'rest_forbidden', 'Your account is not allowed to do this.')
  }
  return known
}

/** Checks that a caller is not anonymous. @throws RestError 401 `rest_forbidden`. */
export async function requireCaller(caller: Caller | undefined): Promise<Caller> {
  if (caller) return caller
  // Not Basic, because browsers would then show their own login dialog.
  const headers = { 'WWW-Authenticate': 'Session realm="sessmgr"' }
  throw new RestError(401, 'rest_forbidden', 'Sign in first.', { headers })
}
