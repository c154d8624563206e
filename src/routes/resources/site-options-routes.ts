import * as z from 'zod/mini'
import { isRecord } from '../../ground/option-checks.ts'
import type { Host } from '../../host/host.ts'
import type { OptionRegistry } from '../../options/option-registry.ts'
import { optionTag } from '../../options/option-tag.ts'
import type { SiteOption } from '../../options/site-option.ts'
import { byAdmin, type Caller, requireCapability } from '../caller.ts'
import { RestAnswer } from '../rest-answer.ts'
import { RestError, refusalOf } from '../rest-error.ts'
import { type RestCall, type RestRoute, restRoute } from '../rest-route.ts'
import { refuseIfChanged } from './settings-routes.ts'

const SOURCES = z.object({ value: z.unknown(), stored: z.unknown(), defaults: z.unknown() })
const ANY_OPTIONS = z.record(z.string(), z.unknown())

/** Reads, changes and resets the options that are exposed over REST, and shows where each value comes from. */
export function siteOptionsRoutes(
  options: OptionRegistry,
  host: Host,
  guarded: readonly GuardedOption[],
): readonly RestRoute[] {
  const optionAccess = createOptionAccess(options, host, guarded)
  const path = '/wp/v2/settings'
  const access = optionAccess.list

  /** @param written Values that this call has just stored, so that they are not read again. */
  async function current(caller: Caller | undefined, written = new Map<string, unknown>()): Promise<RestAnswer> {
    const newest = (option: SiteOption) => (written.has(option.name) ? written.get(option.name) : option.get())
    const entries = (await optionAccess.list(caller)).map(async (it) => [it.name, await newest(it)] as const)
    const values: Record<string, unknown> = Object.fromEntries(await Promise.all(entries))
    return RestAnswer.json(values, { headers: { ETag: optionTag(values) } })
  }

  async function find(name: string, caller: Caller | undefined): Promise<SiteOption> {
    const option = options.exposed().find((one) => one.name === name)
    if (option) {
      await optionAccess.require(caller, option)
      return option
    }
    throw new RestError(404, 'rest_no_route', 'This option does not exist.')
  }

  return [
    restRoute({
      methods: ['GET'],
      path,
      summary: 'Reads all registered options that are exposed over REST.',
      access,
      isTagged: true,
      schemas: () => ({ params: z.object({}), response: ANY_OPTIONS }),
      handle: ({ caller }) => current(caller),
    }),
    restRoute<Record<string, unknown>>({
      methods: ['POST', 'PUT', 'PATCH'],
      path,
      summary:
        'Changes registered options. Partial objects are merged into the current values, and values are sanitized.',
      access,
      schemas: () => ({ params: ANY_OPTIONS, response: ANY_OPTIONS }),
      needsBody: true,
      async handle(call) {
        // Names that are not exposed options are dropped.
        const changed = options.exposed().filter(({ name }) => Object.hasOwn(call.params, name))
        for (const option of changed) await optionAccess.require(call.caller, option)
        return current(call.caller, await writeOptions(changed, call))
      },
    }),
    restRoute<{ option: string }>({
      methods: ['GET'],
      path: `${path}/{option}`,
      summary: 'Returns the value of an option, the stored part of it, and its defaults.',
      access,
      schemas: () => ({ params: z.object({ option: z.string() }), response: SOURCES }),
      handle: async ({ params, caller }) => answer(await find(params.option, caller)),
    }),
    restRoute<{ option: string }>({
      methods: ['DELETE'],
      path: `${path}/{option}`,
      summary: 'Resets an option to its defaults.',
      access,
      schemas: () => ({ params: z.object({ option: z.string() }), response: SOURCES }),
      async handle({ params, caller }) {
        const option = await find(params.option, caller)
        await option.reset(undefined, byAdmin(caller))
        return answer(option)
      },
    }),
    restRoute<{ option: string; key: string }>({
      methods: ['DELETE'],
      path: `${path}/{option}/{key}`,
      summary: 'Resets one key of an option to its default.',
      access,
      schemas: () => ({ params: z.object({ option: z.string(), key: z.string() }), response: SOURCES }),
      async handle({ params, caller }) {
        const option = await find(params.option, caller)
        await option.reset(params.key, byAdmin(caller))
        return answer(option)
      },
    }),
  ]
}

async function answer(option: SiteOption): Promise<object> {
  const { stored = null, defaults } = await option.sources()
  const isDivided = isRecord(stored) && isRecord(defaults)
  return { value: isDivided ? { ...defaults, ...stored } : (stored ?? defaults), stored, defaults }
}

/** Stores options, and returns their new values. Checks all of them first, so that an invalid one changes nothing. */
async function writeOptions(
  changed: readonly SiteOption[],
  { params, request, caller }: Pick<RestCall<Record<string, unknown>>, 'params' | 'request' | 'caller'>,
): Promise<Map<string, unknown>> {
  const writeTo = (name: string, current: unknown) => ({ name, current, requested: params[name], prefix: name })
  const checking = changed.map(async ({ name, check }) => {
    const found: unknown[] = []
    // All options are compared together below. If another write comes in between, its option is compared here.
    const refuse = (current: unknown) => found.push(current) > 1 && refuseIfChanged(request, [writeTo(name, current)])
    return { name, store: await check(params[name], refuse, byAdmin(caller)), current: found[0] }
  })
  const writes = await Promise.all(checking)
  const compared = writes.map(({ name, current }) => writeTo(name, current))
  refuseIfChanged(request, compared)
  const written = new Map<string, unknown>()
  for (const { name, store } of writes) written.set(name, await store())
  return written
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

/** Decides who may read and change each option: administrators, except where an option has its own rules. */
function createOptionAccess(options: OptionRegistry, host: Host, guarded: readonly GuardedOption[]) {
  const own = new Map(guarded.map((one) => [one.option.name, one]))

  async function requireOption(caller: Caller | undefined, { name }: SiteOption): Promise<void> {
    // No filter may open settings to anonymous callers.
    if (caller && own.has(name)) await own.get(name)?.require(caller)
    else await requireCapability(host, caller, 'manage_options')
  }

  return {
    /** @throws RestError `rest_forbidden` if a caller may not read and change an option. */
    require: requireOption,
    /**
     * Lists the options that a caller may access.
     *
     * @throws RestError `rest_forbidden` if the caller may access none.
     */
    async list(caller: Caller | undefined): Promise<readonly SiteOption[]> {
      const exposed = options.exposed()
      const refusals = await Promise.all(exposed.map((option) => refusalOf(requireOption(caller, option))))
      const allowed = exposed.filter((_, index) => refusals[index] === undefined)
      if (allowed.length === 0) throw refusals[0]
      return allowed
    },
  }
}
