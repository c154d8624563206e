import type { Host } from '../../host/host.ts'
import type { OptionRegistry } from '../../options/option-registry.ts'
import type { SiteOption } from '../../options/site-option.ts'
import type { Caller } from '../caller.ts'
import { requireCapability } from '../require-capability.ts'
import { refusalOf } from '../rest-error.ts'

/** Decides who may read and change each option that is exposed over REST. */
export interface OptionAccess {
  /**
   * Lists the options that a caller may access.
   *
   * @throws RestError `rest_forbidden` if the caller may access none.
   */
  list(caller: Caller | undefined): Promise<readonly SiteOption[]>
  /**
   * Checks that a caller may read and change an option.
   *
   * @throws RestError `rest_forbidden` otherwise.
   */
  require(caller: Caller | undefined, option: SiteOption): Promise<void>
}

/** An option with its own access rules. */
export interface GuardedOption {
  readonly option: SiteOption
  /**
   * Checks that a caller may read and change the option.
   *
   * @throws RestError `rest_forbidden` otherwise.
   */
  require(caller: Caller | undefined): Promise<void>
}

/** Creates the access rules. Administrators have access, except to options with their own rules. */
export function createOptionAccess(
  options: OptionRegistry,
  host: Host,
  guarded: readonly GuardedOption[],
): OptionAccess {
  const own = new Map(guarded.map((one) => [one.option.name, one]))

  async function requireOption(caller: Caller | undefined, { name }: SiteOption): Promise<void> {
    // No filter may open settings to anonymous callers.
    if (caller && own.has(name)) await own.get(name)?.require(caller)
    else await requireCapability(host, caller, 'manage_options')
  }

  return {
    require: requireOption,
    async list(caller) {
      const exposed = options.exposed()
      const refusals = await Promise.all(exposed.map((option) => refusalOf(requireOption(caller, option))))
      const allowed = exposed.filter((_, index) => refusals[index] === undefined)
      if (allowed.length === 0) throw refusals[0]
      return allowed
    },
  }
}
