import * as z from 'zod/mini'
import { OPTION_KEY } from '../constants.ts'
import { SessmgrError } from '../errors.ts'
import type { Hooks } from '../hooks/hooks.ts'
import { nearestName } from '../nearest-name.ts'
import type { OptionStore } from './option-store.ts'
import { createSiteOption, type SiteOption } from './site-option.ts'

/** The settings of the session limit. */
export interface SessionSettings {
  /** Sessions that one user may hold: an integer, 1 or more. @default 1 */
  readonly maximum: number
  /** What happens at the limit. @default 'allow' */
  readonly logic: string
}

const NAMES: readonly string[] = ['maximum', 'logic'] satisfies (keyof SessionSettings)[]

/** Logic modes that the sanitiser always lets through. */
export const BUILT_IN_LOGICS: readonly string[] = ['allow', 'logout_oldest', 'block']

const maximumSchema = z.pipe(
  z.transform((value: unknown) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value)),
  z.int('must be a whole number').check(z.minimum(1, 'must be 1 or more')),
)

/** Checks the values in a partial settings object as a script or a program sends it. */
const settingsSchema = (logics: readonly string[]) =>
  z.object({
    maximum: z.optional(maximumSchema),
    logic: z.optional(z.enum(logics as [string, ...string[]], `must be one of ${logics.join(', ')}`)),
  })

/** Coerces any value to valid settings: `maximum` below 1 becomes 1, an unknown `logic` becomes `allow`. */
export function sanitizeSettings(
  value: unknown,
  fallback: SessionSettings,
  logics: readonly string[] = BUILT_IN_LOGICS,
): SessionSettings {
  const { maximum, logic } = Object.assign(Object.create(null), value) as { maximum?: unknown; logic?: unknown }
  return {
    maximum: maximum === undefined ? fallback.maximum : clampMaximum(maximum),
    logic: logic === undefined ? fallback.logic : logics.includes(logic as string) ? String(logic) : 'allow',
  }
}

function clampMaximum(value: unknown): number {
  const number = typeof value === 'number' || typeof value === 'string' ? Math.trunc(Number(value)) : Number.NaN
  // Whoever writes a number beyond all bounds means that there should be no limit.
  return Number.isNaN(number) ? 1 : Math.min(Math.max(number, 1), Number.MAX_SAFE_INTEGER)
}

/** Reads and writes the settings of the session limit. */
export interface SettingsService {
  /**
   * Builds the settings: what is stored, over the defaults. Built anew only after a write.
   *
   * @throws SessmgrError `store_unavailable`, `hook_failed`, `hook_timeout`.
   */
  get(): Promise<SessionSettings>
  /**
   * Changes some settings; an omitted key keeps its value. A key that an add-on keeps beside them is dropped.
   *
   * @param refuse Looks at the settings that the write replaces. What it throws refuses the write.
   * @throws SessmgrError `invalid_setting` naming each bad or unknown key; nothing is written then. `hook_failed`,
   * `hook_timeout`, `store_unavailable`; after the last, whether anything was changed is not known.
   */
  update(
    changes: Partial<Record<keyof SessionSettings, unknown>>,
    refuse?: (current: SessionSettings) => void,
  ): Promise<SessionSettings>
  /** The option behind the settings. Its own update repairs what this one's refuses. */
  readonly option: SiteOption<SessionSettings>
}

/** Creates the settings service over an option store. */
export function createSettings(deps: {
  options: OptionStore
  hooks: Hooks
  /** What holds where nothing is stored. */
  initial: Partial<SessionSettings>
  /** Logic modes that may be chosen now. */
  logics: () => Promise<readonly string[]>
}): SettingsService {
  const option = createSiteOption<SessionSettings>({
    name: OPTION_KEY,
    rest: true,
    store: deps.options,
    hooks: deps.hooks,
    async build(stored) {
      const initial = { maximum: 1, logic: 'allow', ...deps.initial }
      const defaults = await deps.hooks.applyFilters('sessmgr_settings_defaults', initial)
      const merged = { ...initial, ...defaults, ...(stored as object | undefined) }
      return Object.freeze({ ...merged, maximum: clampMaximum(merged.maximum) })
    },
    sanitize: async (value, current) => sanitizeSettings(value, current, await deps.logics()),
  })

  const update: SettingsService['update'] = async (changes, refuse) => {
    if (!isRecord(changes)) throw refusal({ settings: 'must be an object such as { maximum: 2 }' })
    const unknown = await unknownNames(changes)
    const result = settingsSchema(await deps.logics()).safeParse(changes)
    const problems = (result.error?.issues ?? []).map(({ path, message }) => [path.join('.'), message])
    const params = { ...unknown, ...Object.fromEntries(problems) }
    if (!result.success || Object.keys(params).length > 0) throw refusal(params)
    return option.update(withoutUndefined(result.data), refuse)
  }

  async function unknownNames(changes: object): Promise<Record<string, string>> {
    const names = Object.keys(changes).filter((name) => !NAMES.includes(name))
    if (names.length === 0) return {}
    // Whoever has read all settings may hand them all back, with what an add-on keeps beside them.
    const held = await option.get()
    const unknown = names.filter((name) => !Object.hasOwn(held, name))
    return Object.fromEntries(unknown.map((name) => [name, unknownSetting(name)]))
  }

  return { get: option.get, update, option }
}

function refusal(params: Record<string, string>): SessmgrError {
  const problems = Object.entries(params).map(([name, message]) => `${name} ${message}`)
  const message = `Invalid settings: ${problems.join('; ')}. Nothing was changed.`
  return new SessmgrError('invalid_setting', message, { params })
}

function unknownSetting(name: string): string {
  const near = nearestName(name, NAMES)
  return near ? `is unknown (did you mean "${near}"?)` : 'is unknown'
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withoutUndefined(changes: object): object {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}
