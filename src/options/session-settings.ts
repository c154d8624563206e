import { OPTION_KEY } from '../ground/constants.ts'
import { answerInTime } from '../ground/deadline.ts'
import { SessmgrError } from '../ground/errors.ts'
import { inWords, isRecord } from '../ground/option-checks.ts'
import type { UserId } from '../ground/user-id.ts'
import { filterAtOnce } from '../hooks/bus.ts'
import type { Hooks } from '../hooks/hooks.ts'
import { MOST_SESSIONS } from '../sessions/session-registry.ts'
import type { ChangedByWhom, OptionChange } from './option-change.ts'
import type { OptionStore } from './option-store.ts'
import {
  A_MAXIMUM,
  AN_AGE,
  type CodeSettings,
  eachSetting,
  isAge,
  isMaximum,
  isSetting,
  oneOf,
  problemOf,
  SETTINGS,
  type SessionSettings,
  sanitizeSettings,
  unknownSetting,
} from './setting-rules.ts'
import { createSiteOption, type SiteOption, type SiteOptionParts } from './site-option.ts'

// biome-ignore lint/complexity/noBannedTypes: `unknown` would stop editors from completing the modes.
type Unchecked = {} | null | undefined
/** Settings to change, not yet checked. */
type ChangedSettings = { [K in keyof SessionSettings]?: SessionSettings[K] | Unchecked }

/** Reads and writes the settings of the session limit. */
export interface SettingsService {
  /**
   * Returns the current settings. Stored settings override the `sessmgr_settings_defaults` filter, which overrides the
   * `settings` option, which overrides the built-in defaults. Each call runs the filter once, and so does each login.
   *
   * @throws SessmgrError `store_unavailable`, `hook_failed`, `hook_timeout`.
   */
  get(): Promise<SessionSettings>
  /**
   * Stores the given settings and keeps the others. Removes keys that an add-on stored in the same option.
   *
   * @param refuse Called with the settings to be replaced. If it throws, nothing is written.
   * @param whom The author of the change, for the activity log.
   * @throws SessmgrError `invalid_setting` with each invalid or unknown key; nothing is written. `hook_failed`,
   * `hook_timeout`, `store_unavailable`; after `store_unavailable`, the settings may or may not have changed.
   */
  update(
    changes: ChangedSettings,
    refuse?: (current: SessionSettings) => void,
    whom?: ChangedByWhom,
  ): Promise<SessionSettings>
  /**
   * Deletes one stored setting, or all of them, so that the values in the code apply again.
   *
   * @throws SessmgrError `invalid_setting` for an unknown key; `hook_failed`, `hook_timeout`, `store_unavailable`.
   */
  reset(key?: keyof SessionSettings, whom?: ChangedByWhom): Promise<SessionSettings>
  /**
   * Returns how many sessions a user may have: the `maximum` setting, or the result of your `maximum` function,
   * passed through the `sessmgr_maximum` filter, but at most 1,000.
   *
   * @param settings Settings that were just read. @default the current ones
   * @throws SessmgrError `hook_failed` if the result is not an integer of 1 or more; `hook_timeout`,
   * `store_unavailable`.
   */
  maximumOf(userId: UserId, settings?: SessionSettings): number | Promise<number>
  /**
   * Returns how many milliseconds after its login a session ends, or 0 for never.
   *
   * @param labelOf Returns the label of the session, for the application's function.
   * @throws SessmgrError `hook_failed`, `hook_timeout`.
   */
  ageAtLogin(
    userId: UserId,
    settings: SessionSettings,
    labelOf: () => string | undefined | Promise<string | undefined>,
  ): number | Promise<number>
  /**
   * Returns the same for a session in use, or undefined if it keeps what the application's function has returned at its
   * login. Reads the settings at most once a second.
   */
  ageInUse(): Promise<number | undefined>
  /** The option that stores the settings. Its `update` corrects values that the service's `update` refuses. */
  readonly option: SiteOption<SessionSettings>
}

export interface SettingsParts {
  readonly options: OptionStore
  readonly hooks: Hooks
  /** Settings from the application's code. */
  readonly initial: CodeSettings
  /** Modes that have a strategy. */
  readonly logics: readonly string[]
  /** How long the application's functions may take. */
  readonly deadlineMs: number
  /** Lists the modes that have a display name. A mode without a strategy needs a filter subscriber that accepts it. */
  catalogue(): Promise<readonly string[]>
  /** Called for each change of a setting. */
  noteChange?(change: OptionChange): void
}

/** Creates the settings service on top of an option store. */
export function createSettings(parts: SettingsParts): SettingsService {
  const { hooks, logics } = parts
  const maximums = userMaximums(parts)
  const ages = sessionAges(parts)

  const defaults = createDefaults(parts, maximums, ages)
  const optionParts: SiteOptionParts<SessionSettings> = {
    name: OPTION_KEY,
    rest: true,
    store: parts.options,
    hooks,
    defaults,
    noteChange: parts.noteChange,
    build(defaults, stored) {
      if (!isRecord(stored)) return defaults
      const settings = repaired({ ...defaults, ...stored })
      if (!Object.hasOwn(stored, 'maximum')) maximums.marks.carry(defaults, settings)
      if (!Object.hasOwn(stored, 'max_age')) ages.marks.carry(defaults, settings)
      return settings
    },
    // A stored mode stays valid even if this process does not know it.
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
      if (isDropped) throw refusal({ logic: `must be ${oneOf(logics)}` })
      return next
    },
  })

  const update: SettingsService['update'] = async (changes, refuse, whom) => {
    if (!isRecord(changes)) throw refusal({ settings: 'must be an object such as { maximum: 2 }' })
    const unknown = await unknownNames(changes)
    // A mode without a strategy can be chosen only if a filter subscriber may accept it.
    const isFiltered = hooks.hasFilter(`pre_update_option_${OPTION_KEY}`)
    const choices = isFiltered ? [...new Set([...logics, ...(await parts.catalogue())])] : logics
    const requested = withoutUndefined(eachSetting((name) => SETTINGS[name].fromText(changes[name])))
    const problems = withoutUndefined(eachSetting((name) => problemOf(name, requested[name], choices)))
    const params = { ...unknown, ...problems }
    if (Object.keys(params).length > 0) throw refusal(params)
    return strict.update(requested, refuse, whom)
  }

  async function unknownNames(changes: object): Promise<Record<string, string>> {
    const names = Object.keys(changes).filter((name) => !isSetting(name))
    if (names.length === 0) return {}
    // A client may send back everything that it read, including add-on keys.
    const held = await option.get()
    const unknown = names.filter((name) => !Object.hasOwn(held, name))
    return Object.fromEntries(unknown.map((name) => [name, unknownSetting(name)]))
  }

  return {
    get: option.get,
    update,
    async reset(key, whom) {
      if (key !== undefined && !isSetting(key)) throw refusal({ [key]: unknownSetting(key) })
      return option.reset(key, whom)
    },
    maximumOf: (userId, settings) =>
      settings ? maximums.of(userId, settings) : option.get().then((current) => maximums.of(userId, current)),
    ageAtLogin: ages.of,
    ageInUse: shortly(async () => ages.inUse(await option.get())),
    option,
  }
}

/**
 * Returns a function that returns the default settings. They are built only once, unless the filter has subscribers.
 */
function createDefaults(
  parts: SettingsParts,
  maximums: UserMaximums,
  ages: SessionAges,
): () => SessionSettings | Promise<SessionSettings> {
  const { hooks, logics } = parts
  const builtIn = eachSetting<unknown>((name) => SETTINGS[name].initial) as SessionSettings
  const initial = { ...builtIn, ...parts.initial, maximum: maximums.siteWide, max_age: ages.siteWide }
  let unfiltered: SessionSettings | undefined

  return () => {
    const filtered = filterAtOnce(hooks, 'sessmgr_settings_defaults', { ...initial })
    if (filtered instanceof Promise) return filtered.then(defaultsFrom)
    unfiltered ??= logics.includes(initial.logic) ? frozen(initial, logics) : undefined
    return unfiltered ?? defaultsFrom(filtered)
  }

  async function defaultsFrom(filter: object): Promise<SessionSettings> {
    const filtered = { ...initial, ...filter }
    return frozen(filtered, logics.includes(filtered.logic) ? logics : [...logics, ...(await parts.catalogue())])
  }

  function frozen(filtered: SessionSettings, known: readonly string[]): SessionSettings {
    const settings = Object.freeze({ ...filtered, ...sanitizeSettings(filtered, initial, known) })
    if (settings.maximum === initial.maximum) maximums.marks.set(settings)
    if (settings.max_age === initial.max_age) ages.marks.set(settings)
    return settings
  }
}

/** Corrects all values except the mode, which another process may know even if this one does not. */
function repaired(settings: SessionSettings): SessionSettings {
  return Object.freeze({ ...settings, ...sanitizeSettings(settings, settings, [settings.logic]) })
}

function refusal(params: Record<string, string>): SessmgrError {
  const problems = Object.entries(params).map(([name, message]) => `${name} ${message}`)
  const message = `Invalid settings: ${problems.join('; ')}. Nothing was changed.`
  return new SessmgrError('invalid_setting', message, { params })
}

function withoutUndefined<T>(values: Record<string, T>): Record<string, Exclude<T, undefined>> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Record<string, Exclude<T, undefined>>
}

/** Marks settings of which one value is the result of the application's function, if there is one. */
class Marks {
  readonly #marked = new WeakSet<SessionSettings>()
  readonly #isWanted: boolean

  constructor(value: unknown) {
    this.#isWanted = typeof value === 'function'
  }

  set(settings: SessionSettings): void {
    if (this.#isWanted) this.#marked.add(settings)
  }

  has(settings: SessionSettings): boolean {
    return this.#marked.has(settings)
  }

  /** Copies the mark from one settings object to another that is derived from it. */
  carry(from: SessionSettings, to: SessionSettings): void {
    if (this.has(from)) this.set(to)
  }
}

/** Looks up how long sessions may last, in milliseconds. */
interface SessionAges {
  /** The `max_age` to show in the settings: the application's number, or 0 if it passes a function or nothing. */
  readonly siteWide: number
  readonly marks: Marks
  readonly of: SettingsService['ageAtLogin']
  inUse(settings: SessionSettings): number | undefined
}

function sessionAges({ initial, deadlineMs }: SettingsParts): SessionAges {
  const { max_age: age = 0 } = initial
  const marks = new Marks(age)
  return {
    siteWide: typeof age === 'function' ? 0 : age,
    marks,
    of(userId, settings, labelOf) {
      if (typeof age !== 'function' || !marks.has(settings)) return settings.max_age * 1000
      return answerInTime('settings.max_age', deadlineMs, async () => {
        const seconds: unknown = await age(userId, await labelOf())
        if (isAge(seconds)) return seconds * 1000
        const message = `"settings.max_age" must return ${AN_AGE}; it returned ${inWords(seconds)}.`
        throw new SessmgrError('hook_failed', message)
      })
    },
    inUse: (settings) => (marks.has(settings) ? undefined : settings.max_age * 1000),
  }
}

/** How long the result of a function is used. */
const SHORTLY_MS = 1000

/** Returns a function that shares the result of another one for a second, unless it fails. */
function shortly<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined
  let until = 0
  return () => {
    if (found && performance.now() < until) return found
    const finding = find()
    found = finding
    until = performance.now() + SHORTLY_MS
    finding.catch(() => {
      if (found === finding) found = undefined
    })
    return finding
  }
}

/** Looks up how many sessions a user may have. */
interface UserMaximums {
  /** The `maximum` to show in the settings: the application's number, or 1 if it passes a function or nothing. */
  readonly siteWide: number
  readonly marks: Marks
  /** Returns a user's maximum, passed through the `sessmgr_maximum` filter, but at most `MOST_SESSIONS`. */
  of(userId: UserId, settings: SessionSettings): number | Promise<number>
}

/** Creates the lookup of maximums. A function passed as `maximum` becomes the first subscriber of the filter. */
function userMaximums({ hooks, initial }: { hooks: Hooks; initial: CodeSettings }): UserMaximums {
  const { maximum = 1 } = initial
  const marks = new Marks(maximum)
  const ask = typeof maximum === 'function' ? maximum : undefined
  if (ask) {
    const answer = async (given: number, userId: UserId) => (Number.isNaN(given) ? checked(await ask(userId)) : given)
    hooks.addFilter('sessmgr_maximum', 'settings.maximum', answer, Number.MIN_SAFE_INTEGER)
  }

  return {
    siteWide: typeof maximum === 'function' ? 1 : maximum,
    marks,
    of(userId, settings) {
      // The first subscriber replaces NaN with the result of the application's function.
      const start = marks.has(settings) ? Number.NaN : settings.maximum
      const found = filterAtOnce(hooks, 'sessmgr_maximum', start, userId)
      return found instanceof Promise ? found.then(boundedMaximum) : boundedMaximum(found)
    },
  }
}

function boundedMaximum(found: unknown): number {
  if (isMaximum(found)) return Math.min(found, MOST_SESSIONS)
  throw new SessmgrError(
    'hook_failed',
    `The "sessmgr_maximum" filter must return ${A_MAXIMUM}; it returned ${inWords(found)}.`,
  )
}

function checked(maximum: unknown): number {
  if (isMaximum(maximum)) return maximum
  throw new Error(`it must return ${A_MAXIMUM}; it returned ${inWords(maximum)}`)
}
