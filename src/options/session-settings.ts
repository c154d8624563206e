import { OPTION_KEY } from '../ground/constants.ts'
import { SessmgrError } from '../ground/errors.ts'
import { type Logger, warn } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { OptionStore } from './option-store.ts'
import {
  type CodeSettings,
  clampMaximum,
  isSetting,
  maximumProblem,
  numberOfDigits,
  oneOf,
  type SessionSettings,
  sanitizeSettings,
  unknownSetting,
} from './setting-rules.ts'
import { createSiteOption, type SiteOption, type SiteOptionParts } from './site-option.ts'
import { userMaximums } from './user-maximums.ts'

/** Settings as a script or a program sends them. */
type ChangedSettings = Partial<Record<keyof SessionSettings, unknown>>

/** Reads and writes the settings of the session limit. */
export interface SettingsService {
  /**
   * Builds the settings: the built-in defaults, then the option `settings` of the application, then the filter
   * `sessmgr_settings_defaults`, then what is stored.
   *
   * @throws SessmgrError `store_unavailable`, `hook_failed`, `hook_timeout`.
   */
  get(): Promise<SessionSettings>
  /**
   * Stores some settings; every other key stays as it is. A key that an add-on keeps beside them is dropped.
   *
   * @param refuse Looks at the settings that the write replaces. What it throws refuses the write.
   * @throws SessmgrError `invalid_setting` naming each bad or unknown key; nothing is written then. `hook_failed`,
   * `hook_timeout`, `store_unavailable`; after the last, whether anything was changed is not known.
   */
  update(
    changes: Partial<Record<keyof SessionSettings, unknown>>,
    refuse?: (current: SessionSettings) => void,
  ): Promise<SessionSettings>
  /**
   * Gives a setting back to the code by forgetting what is stored of it; without a key, every setting.
   *
   * @throws SessmgrError `invalid_setting` for an unknown key; `hook_failed`, `hook_timeout`, `store_unavailable`.
   */
  reset(key?: keyof SessionSettings): Promise<SessionSettings>
  /**
   * Returns how many sessions a user may hold: the setting `maximum`, or what the function in its place returns for that
   * user, through the filter `sessmgr_maximum`.
   *
   * @param settings Settings that were just read. @default those that hold now
   * @throws SessmgrError `hook_failed` for anything but a whole number of at least 1; `hook_timeout`, `store_unavailable`.
   */
  maximumOf(userId: UserId, settings?: SessionSettings): Promise<number>
  /** The option behind the settings. Its own update repairs what this one's refuses. */
  readonly option: SiteOption<SessionSettings>
}

/** What the settings service is made from. */
export interface SettingsParts {
  readonly options: OptionStore
  readonly hooks: Hooks
  readonly logger: Logger
  /** What the application gives in its code. */
  readonly initial: CodeSettings
  /** Logic modes that have code. */
  readonly logics: readonly string[]
  /** Every logic mode that people can read of. One without code needs a subscriber that vouches for it. */
  catalogue(): Promise<readonly string[]>
}

/** Creates the settings service over an option store. */
export function createSettings(parts: SettingsParts): SettingsService {
  const { hooks, logics } = parts
  const maximums = userMaximums(parts)

  async function defaults(): Promise<SessionSettings> {
    const initial = { logic: 'allow', ...parts.initial, maximum: maximums.siteWide }
    const filtered = await hooks.applyFilters('sessmgr_settings_defaults', { ...initial })
    const settings = withMaximum({ ...initial, ...filtered })
    return settings.maximum === initial.maximum ? maximums.mark(settings) : settings
  }

  const optionParts: SiteOptionParts<SessionSettings> = {
    name: OPTION_KEY,
    rest: true,
    store: parts.options,
    hooks,
    defaults,
    noteStored: overrideNote(parts),
    build(defaults, stored) {
      if (!isRecord(stored)) return defaults
      const settings = withMaximum({ ...defaults, ...stored })
      return Object.hasOwn(stored, 'maximum') ? settings : maximums.carryMark(defaults, settings)
    },
    // What nobody asks to change stays, even a mode that this process does not know.
    sanitize: (value, current) => sanitizeSettings(value, current, [...logics, current.logic]),
    sanitizeFiltered: async (value, current) =>
      sanitizeSettings(value, current, [...logics, current.logic, ...(await parts.catalogue())]),
  }
  const option = createSiteOption(optionParts)
  const strict = createSiteOption({
    ...optionParts,
    async sanitizeFiltered(value, current, requested) {
      const next = await (optionParts.sanitizeFiltered ?? optionParts.sanitize)(value, current, requested)
      const { logic = next.logic } = requested as { logic?: string }
      const isDropped = next.logic === 'allow' && ![...logics, current.logic].includes(logic)
      if (isDropped) throw refusal({ logic: oneOf(logics) })
      return next
    },
  })

  const update: SettingsService['update'] = async (changes, refuse) => {
    if (!isRecord(changes)) throw refusal({ settings: 'must be an object such as { maximum: 2 }' })
    const unknown = await unknownNames(changes)
    // A mode without code can only be chosen where a subscriber may vouch for it.
    const isFiltered = hooks.hasFilter(`pre_update_option_${OPTION_KEY}`)
    const choices = isFiltered ? [...new Set([...logics, ...(await parts.catalogue())])] : logics
    const requested = withoutUndefined({ maximum: numberOfDigits(changes.maximum), logic: changes.logic })
    const params = { ...unknown, ...problemsOf(requested, choices) }
    if (Object.keys(params).length > 0) throw refusal(params)
    return strict.update(requested, refuse)
  }

  async function unknownNames(changes: object): Promise<Record<string, string>> {
    const names = Object.keys(changes).filter((name) => !isSetting(name))
    if (names.length === 0) return {}
    // Whoever has read all settings may hand them all back, with what an add-on keeps beside them.
    const held = await option.get()
    const unknown = names.filter((name) => !Object.hasOwn(held, name))
    return Object.fromEntries(unknown.map((name) => [name, unknownSetting(name)]))
  }

  return {
    get: option.get,
    update,
    async reset(key) {
      if (key !== undefined && !isSetting(key)) throw refusal({ [key]: unknownSetting(key) })
      return option.reset(key)
    },
    maximumOf: async (userId, settings) => maximums.of(userId, settings ?? (await option.get())),
    option,
  }
}

/** Returns a function that warns once when stored settings override those in the code. */
function overrideNote({ logger, initial }: SettingsParts): (stored: unknown) => void {
  let isSaid = false
  return (stored) => {
    if (isSaid) return
    isSaid = true
    const overridden = Object.entries(initial).flatMap(([key, value]) => {
      const held = isRecord(stored) && Object.hasOwn(stored, key) ? stored[key] : value
      const given = typeof value === 'function' ? 'what its function returns' : String(value)
      return held === value ? [] : [`${key} is ${String(held)}, not ${given}`]
    })
    if (overridden.length === 0) return
    warn(
      logger,
      'stored-settings-override-code',
      `Stored settings override the option "settings" of sessmgr(): ${overridden.join('; ')}. ` +
        'To use the settings in your code, run "sessmgr settings reset".',
    )
  }
}

function problemsOf({ maximum, logic }: ChangedSettings, logics: readonly string[]): Record<string, string> {
  const problem = maximum === undefined ? undefined : maximumProblem(maximum)
  const isKnown = logic === undefined || logics.includes(logic as string)
  return { ...(problem && { maximum: problem }), ...(!isKnown && { logic: oneOf(logics) }) }
}

function withMaximum(settings: SessionSettings): SessionSettings {
  return Object.freeze({ ...settings, maximum: clampMaximum(settings.maximum) })
}

function refusal(params: Record<string, string>): SessmgrError {
  const problems = Object.entries(params).map(([name, message]) => `${name} ${message}`)
  const message = `Invalid settings: ${problems.join('; ')}. Nothing was changed.`
  return new SessmgrError('invalid_setting', message, { params })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withoutUndefined(changes: ChangedSettings): ChangedSettings {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}
