import * as z from 'zod/mini'
import type { RoutedRequest } from '../../door/host-types.ts'
import { isRecord } from '../../ground/option-checks.ts'
import type { Host } from '../../host/host.ts'
import type { OptionRegistry } from '../../options/option-registry.ts'
import { changedSince, optionTag } from '../../options/option-tag.ts'
import type { SettingsService } from '../../options/session-settings.ts'
import {
  eachSetting,
  oneOf,
  problemOf,
  SETTING_NAMES,
  SETTINGS,
  type SessionSettings,
} from '../../options/setting-rules.ts'
import type { SiteOption } from '../../options/site-option.ts'
import type { LogicModes } from '../../strategies/logic-catalogue.ts'
import { RestAnswer, RestError, refusalOf } from '../answer.ts'
import { byAdmin, type Caller, requireCapability } from '../caller.ts'
import { type RestCall, type RestRoute, restRoute } from '../router.ts'

/** The settings in an answer. */
export const SETTINGS_ANSWER = z.object({
  maximum: z.int(),
  logic: z.string(),
  idle_release: z.int(),
  max_age: z.int(),
  enforce: z.boolean(),
})

/** Returns the schema of a setting in a request: as JSON, or as the text of a form field. */
function schemaOfSetting(name: keyof SessionSettings, logics: readonly string[]): z.ZodMiniType {
  const { initial, least = 0, expected, fromText } = SETTINGS[name]
  const must = `must be ${expected(logics)}`
  const error = ({ input }: { input?: unknown }) => problemOf(name, fromText(input), logics) ?? must
  if (name === 'logic') return z.enum(logics, { error })
  if (typeof initial === 'boolean') return z.union([z.boolean(), z.enum(['true', 'false'])], { error })
  // The settings refuse other numbers that are too small or too large.
  const digits = least > 0 ? /^0*[1-9]\d*$/ : /^\d+$/
  const whole = z.int({ abort: true }).check(z.minimum(least, { abort: true }))
  return z.union([whole, z.string().check(z.regex(digits, { abort: true }))], { error })
}

/** Returns the routes that read, change and reset the settings of the session limit, and show each value's source. */
export function settingsRoutes(settings: SettingsService, modes: LogicModes): readonly RestRoute[] {
  const path = '/sessmgr/v1/settings'
  const access = 'manage_options'
  const response = SETTINGS_ANSWER
  const key = z.object({ key: z.enum(SETTING_NAMES, `must be ${oneOf(SETTING_NAMES)}`) })
  const value = z.union([z.int(), z.string(), z.boolean()])
  const { name } = settings.option
  const answer = (current: SessionSettings) =>
    RestAnswer.json(
      eachSetting((name) => current[name]),
      {
        headers: { ETag: optionTag({ [name]: current }) },
      },
    )
  return [
    restRoute({
      methods: ['GET'],
      path,
      summary: 'Reads the settings of the session limit.',
      access,
      isTagged: true,
      schemas: () => ({ params: z.object({}), response }),
      handle: async () => answer(await settings.get()),
    }),
    restRoute<Partial<SessionSettings>>({
      methods: ['POST', 'PUT', 'PATCH'],
      path,
      summary: 'Changes settings of the session limit. Omitted settings keep their values.',
      access,
      async schemas() {
        const logics = Object.keys(await modes.catalogue())
        return { params: z.partial(z.object(eachSetting((name) => schemaOfSetting(name, logics)))), response }
      },
      needsBody: true,
      async handle({ params, request, caller }) {
        const refuse = (current: SessionSettings) =>
          refuseIfChanged(request, [{ name, current, requested: params, prefix: '' }])
        return answer(await settings.update(params, refuse, byAdmin(caller)))
      },
    }),
    restRoute<{ key: keyof SessionSettings }>({
      methods: ['GET'],
      path: `${path}/{key}`,
      summary: 'Returns a setting of the session limit, whether it is stored, and its default.',
      access,
      schemas: () => ({ params: key, response: z.object({ value, stored: z.boolean(), default: value }) }),
      async handle({ params: { key } }) {
        const { stored, defaults } = await settings.option.sources()
        return { value: stored?.[key] ?? defaults[key], stored: stored?.[key] !== undefined, default: defaults[key] }
      },
    }),
    restRoute<{ key: keyof SessionSettings }>({
      methods: ['DELETE'],
      path: `${path}/{key}`,
      summary: 'Deletes a stored setting of the session limit, so that its default applies. Returns all settings.',
      access,
      schemas: () => ({ params: key, response }),
      handle: async ({ params: { key }, caller }) => answer(await settings.reset(key, byAdmin(caller))),
    }),
    restRoute({
      methods: ['DELETE'],
      path,
      summary: 'Deletes all stored settings of the session limit, so that the defaults apply.',
      access,
      schemas: () => ({ params: z.object({}), response }),
      handle: async ({ caller }) => answer(await settings.reset(undefined, byAdmin(caller))),
    }),
  ]
}

interface OptionWrite {
  readonly name: string
  /** The value to be replaced. */
  readonly current: unknown
  readonly requested: unknown
  /** Prefix of keys in the response, or an empty string if the route serves only this option. */
  readonly prefix: string
}

/**
 * Refuses to write keys that have changed since the caller read them, according to `If-Match`.
 *
 * @throws RestError 409 `settings_changed` with both values of each such key.
 */
function refuseIfChanged(request: RoutedRequest, writes: readonly OptionWrite[]): void {
  const tag = request.headers['if-match']
  if (tag === undefined || tag.trim() === '*') return
  const changed = writes.flatMap(({ name, current, requested, prefix }) =>
    changedSince(tag, name, current, requested).map(({ key, ...values }) => [
      [prefix, key].filter((part) => part !== '').join('.'),
      values,
    ]),
  )
  if (changed.length === 0) return
  throw new RestError(
    409,
    'settings_changed',
    'The settings have changed since you read them, so nothing was saved. Read them again, then save.',
    { data: { changed: Object.fromEntries(changed) } },
  )
}

const SOURCES = z.object({ value: z.unknown(), stored: z.unknown(), defaults: z.unknown() })
const ANY_OPTIONS = z.record(z.string(), z.unknown())

/** Names the options, so that the router finds them in the query. Each checks its own value. */
const schemaOf = (options: readonly SiteOption[]) =>
  z.looseObject(Object.fromEntries(options.map(({ name }) => [name, z.optional(z.unknown())])))

/** Returns the routes that read, change and reset the options exposed over REST, and show each value's source. */
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
      schemas: () => ({ params: schemaOf(options.exposed()), response: ANY_OPTIONS }),
      needsBody: true,
      async handle(call) {
        // Names that are not exposed options are ignored.
        const changed = options.exposed().filter(({ name }) => Object.hasOwn(call.params, name))
        for (const option of changed) await optionAccess.require(call.caller, option)
        return current(call.caller, await writeOptions(changed, call))
      },
    }),
    restRoute<{ option: string }>({
      methods: ['GET'],
      path: `${path}/{option}`,
      summary: "Returns an option's value, the stored part of the value, and the defaults.",
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
    // All options are compared together below. An option that someone else writes in between is compared again here.
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
