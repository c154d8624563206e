import type { Host } from '../host/host.ts'
import type { OptionRegistry } from '../options/option-registry.ts'
import type { SiteOption } from '../options/site-option.ts'
import type { Caller } from './authenticate-caller.ts'
import { requireCapability } from './require-capability.ts'
import { RestError } from './rest-error.ts'

/** Says who may read and change which option that is exposed over REST. */
export interface OptionAccess {
  /**
   * Lists the options of a caller.
   *
   * @throws RestError `rest_forbidden` when there are none.
   */
  list(caller: Caller | undefined): Promise<readonly SiteOption[]>
  /**
   * Lets a caller through who may read and change an option.
   *
   * @throws RestError `rest_forbidden` for another.
   */
  require(caller: Caller | undefined, option: SiteOption): Promise<void>
}

/** Lets a caller who is signed in through to an option that has an access model of its own, or rejects. */
export type OptionGuard = (caller: Caller) => Promise<void>

/**
 * Creates the access to options: administrators have it.
 *
 * @param own The access models that options have of their own, by name of the option.
 */
export function createOptionAccess(
  options: OptionRegistry,
  host: Host,
  own: ReadonlyMap<string, OptionGuard>,
): OptionAccess {
  async function requireOption(caller: Caller | undefined, { name }: SiteOption): Promise<void> {
    // No filter opens settings to callers who are not signed in.
    const ownModel = own.get(name)
    if (ownModel && caller) await ownModel(caller)
    else await requireCapability(host, caller, 'manage_options')
  }

  return {
    require: requireOption,
    async list(caller) {
      const exposed = options.exposed()
      const refusals = await Promise.all(
        exposed.map((option) => requireOption(caller, option).catch((error: unknown) => error)),
      )
      const failure = refusals.find((refusal) => refusal !== undefined && !(refusal instanceof RestError))
      if (failure) throw failure
      const allowed = exposed.filter((_, index) => refusals[index] === undefined)
      if (allowed.length === 0) throw refusals[0]
      return allowed
    },
  }
}
