import { SLUG, VERSION } from '../constants.ts'
import { SessmgrError } from '../errors.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { LogicModes } from '../strategies/logic-catalogue.ts'

/** Name that people read. */
export const PRODUCT_NAME = 'Session Manager'

/** What the variables are made from. */
export interface ScriptVarsParts {
  readonly hooks: Hooks
  readonly modes: LogicModes
  /** Path below which the REST routes are. */
  readonly restPath: string
}

/**
 * Makes the variables that `window.sessmgr` starts with, through the filter `sessmgr_admin_script_vars`.
 *
 * @throws SessmgrError `hook_failed` when a subscriber fails, or returns anything but an object.
 */
export async function scriptVars(
  { hooks, modes, restPath }: ScriptVarsParts,
  { base, nonce }: { base: string; nonce: string },
): Promise<Readonly<Record<string, unknown>>> {
  const vars: unknown = await hooks.applyFilters('sessmgr_admin_script_vars', {
    version: VERSION,
    slug: SLUG,
    name: PRODUCT_NAME,
    page: 'admin',
    restUrl: `${restPath}/`,
    restNonce: nonce,
    adminUrl: `${base}/`,
    logics: await modes.catalogue(),
  })
  if (typeof vars === 'object' && vars !== null && !Array.isArray(vars)) return vars as Record<string, unknown>
  throw new SessmgrError('hook_failed', 'A subscriber to "sessmgr_admin_script_vars" did not return an object.')
}
