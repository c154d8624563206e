import { SessmgrError } from '../../ground/errors.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { SessionFilters } from '../../hooks/session-hooks.ts'

/**
 * Applies a filter whose result is true or false. Requires true or false, so that a filter with another result cannot
 * disable the limit by accident.
 *
 * @throws SessmgrError `hook_failed`, `hook_timeout`.
 */
export async function verdictOf<Name extends 'sessmgr_bypass' | 'sessmgr_reached_limit' | 'sessmgr_enforce'>(
  hooks: Hooks,
  name: Name,
  start: boolean,
  ...parameters: SessionFilters[Name]['parameters']
): Promise<boolean> {
  const verdict: unknown = await hooks.applyFilters(name, start, ...parameters)
  if (typeof verdict === 'boolean') return verdict
  const message = `The filter "${name}" must return true or false; it returned ${typeof verdict}.`
  throw new SessmgrError('hook_failed', message)
}
