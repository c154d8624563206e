import type { Logger } from '../../ground/logger.ts'
import type { AddonRegistration } from '../../hooks/addon-types.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import { isProductId } from './addon-row.ts'

/** Tells which add-ons are registered, by product id. */
export type Registrations = () => Promise<ReadonlyMap<number, AddonRegistration>>

const FILTER = 'sessmgr_register_addon'
const TEXTS = ['slug', 'main_file', 'public_key'] as const

/** Creates the reader of the registrations. A bad one is left out, with one warning that names it. */
export function createRegistrations(hooks: Hooks, logger: Logger): Registrations {
  const said = new Set<string>()
  const warn = (message: string) => {
    if (!said.has(message)) logger.warn(message)
    said.add(message)
  }
  return async () => {
    const given: unknown = await hooks.applyFilters(FILTER, {})
    const registered = new Map<number, AddonRegistration>()
    if (typeof given !== 'object' || given === null) {
      warn(`No add-on is registered: a subscriber to "${FILTER}" did not return an object of add-ons by product id.`)
      return registered
    }
    for (const [id, registration] of Object.entries(given)) {
      const problem = problemOf(id, registration)
      if (problem === undefined) registered.set(Number(id), registration)
      else warn(`The add-on "${id}" is not registered: ${problem}. See the filter "${FILTER}".`)
    }
    return registered
  }
}

function problemOf(id: string, registration: unknown): string | undefined {
  if (!isProductId(Number(id)) || String(Number(id)) !== id) return 'its key must be the product id, a positive integer'
  if (typeof registration !== 'object' || registration === null) return 'it must be an object'
  const fields = registration as Record<string, unknown>
  const bad = TEXTS.filter((name) => typeof fields[name] !== 'string' || fields[name] === '')
  if (bad.length > 0) return `${bad.join(', ')} must be a non-empty text`
  return typeof fields.is_premium === 'boolean' ? undefined : 'is_premium must be true or false'
}
