import { SLUG, VERSION } from '../../ground/constants.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { LogicCatalogue } from '../../hooks/session-hooks.ts'
import type { LogicModes } from '../../strategies/logic-catalogue.ts'
import type { Texts } from '../../texts/text-catalogue.ts'
import type { ReaderTexts } from '../../texts/texts-for.ts'

export interface ScriptVarsParts {
  readonly hooks: Hooks
  readonly modes: LogicModes
  /** Path of the REST routes. */
  readonly restPath: string
}

/**
 * Returns the initial content of `window.sessmgr`, passed through the filter `sessmgr_admin_script_vars`.
 *
 * @throws SessmgrError `hook_failed` if a subscriber fails, or returns anything except an object.
 */
export async function scriptVars(
  { hooks, modes, restPath }: ScriptVarsParts,
  { base, nonce, texts }: { base: string; nonce: string; texts: ReaderTexts },
): Promise<Readonly<Record<string, unknown>>> {
  const vars: unknown = await hooks.applyFilters('sessmgr_admin_script_vars', {
    version: VERSION,
    slug: SLUG,
    name: texts.say('product_name'),
    page: 'admin',
    restUrl: `${restPath}/`,
    restNonce: nonce,
    adminUrl: `${base}/`,
    logics: inLanguage(await modes.catalogue(), texts.replaced),
  })
  if (typeof vars === 'object' && vars !== null && !Array.isArray(vars)) return vars as Record<string, unknown>
  throw new SessmgrError('hook_failed', 'A subscriber to "sessmgr_admin_script_vars" did not return an object.')
}

/** Replaces the texts of the built-in modes with the application's. */
function inLanguage(logics: LogicCatalogue, texts: Texts): LogicCatalogue {
  const given = texts as Readonly<Record<string, string | undefined>>
  const entries = Object.entries(logics).map(([id, { label, desc }]) => [
    id,
    { label: given[`logic_${id}`] ?? label, desc: given[`logic_${id}_desc`] ?? desc },
  ])
  return Object.fromEntries(entries)
}
