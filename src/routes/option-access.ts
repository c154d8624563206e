import { COMMENTS_OPTION } from '../comments/comment-settings.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { Host } from '../host/host.ts'
import type { Caller } from '../middleware/authenticate-caller.ts'
import { requireCapability } from '../middleware/require-capability.ts'
import { requireCommentsAccess } from '../middleware/require-comments-access.ts'
import { RestError } from '../middleware/rest-error.ts'
import type { OptionRegistry } from '../options/option-registry.ts'
import type { SiteOption } from '../options/site-option.ts'

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

/** Creates the access to options: those of the lazy comments have an access model of their own. */
export function createOptionAccess(options: OptionRegistry, hooks: Hooks, host: Host): OptionAccess {
  async function requireOption(caller: Caller | undefined, { name }: SiteOption): Promise<void> {
    // No filter opens settings to callers who are not signed in.
    if (name === COMMENTS_OPTION && caller) await requireCommentsAccess(hooks, host, caller)
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
