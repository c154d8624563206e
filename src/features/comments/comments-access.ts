import type { Hooks } from '../../hooks/hooks.ts'
import type { Host } from '../../host/host.ts'
import type { Caller } from '../../routes/caller.ts'
import { requireCapability } from '../../routes/require-capability.ts'
import { RestError, refusalOf } from '../../routes/rest-error.ts'

/**
 * Checks that a caller may manage the lazy comments: that they have the capability from `lazycomments_capability`. The
 * filter `lazycomments_has_access` has the last word, even about anonymous callers.
 *
 * @throws RestError `rest_forbidden` with 401 for an anonymous caller, or 403 for any other.
 */
export async function requireCommentsAccess(
  hooks: Hooks,
  host: Pick<Host, 'can'>,
  caller: Caller | undefined,
): Promise<void> {
  const capability = await hooks.applyFilters('lazycomments_capability', 'manage_options')
  const refusal = await refusalOf(requireCapability(host, caller, capability))
  if (await hooks.applyFilters('lazycomments_has_access', refusal === undefined)) return
  throw refusal ?? new RestError(403, 'rest_forbidden', 'Your account is not allowed to do this.')
}
