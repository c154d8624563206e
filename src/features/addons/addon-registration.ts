import { type Logger, warn } from '../../ground/logger.ts'
import type { AddonRegistration } from '../../hooks/addon-types.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import { isProductId } from './addon-row.ts'

/** Returns the registered add-ons by product id. */
export type Registrations = () => Promise<ReadonlyMap<number, AddonRegistration>>

const FILTER = 'sessmgr_register_addon'
const TEXTS = ['slug', 'main_file', 'public_key'] as const

/** Creates the function that reads registrations. It leaves out invalid registrations, with one warning each. */
export function createRegistrations(hooks: Hooks, logger: Logger): Registrations {
  const said = new Set<string>()
  const refuse = (message: string) => {
    if (!said.has(message)) warn(logger, 'add-on-not-registered', message)
    said.add(message)
  }
  return async () => {
    const given: unknown = await hooks.applyFilters(FILTER, {})
    const registered = new Map<number, AddonRegistration>()
    if (typeof given !== 'object' || given === null) {
      refuse(`No add-ons are registered: subscribers to "${FILTER}" must return an object of add-ons by product id.`)
      return registered
    }
    for (const [id, registration] of Object.entries(given)) {
      const problem = problemOf(id, registration)
      if (problem === undefined) registered.set(Number(id), registration)
      else refuse(`The add-on "${id}" is not registered: ${problem}. Fix it in your subscriber to "${FILTER}".`)
    }
    return registered
  }
}

function problemOf(id: string, registration: unknown): string | undefined {
  if (!isProductId(Number(id)) || String(Number(id)) !== id) return 'its key must be the product id, a positive integer'
  if (typeof registration !== 'object' || registration === null) return 'it must be an object'
  const fields = registration as Record<string, unknown>
  const bad = TEXTS.filter((name) => typeof fields[name] !== 'string' || fields[name] === '')
  if (bad.length > 0) return `${bad.join(', ')} must be non-empty strings`
  return typeof fields.is_premium === 'boolean' ? undefined : 'is_premium must be true or false'
}
