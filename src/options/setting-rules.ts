import { nearestName } from '../ground/option-checks.ts'
import type { UserId } from '../ground/user-id.ts'

/** The settings of the session limit. */
export interface SessionSettings {
  /**
   * Live sessions that each user may have, from 1 to 9,007,199,254,740,991. Values above 1,000 count as 1,000.
   *
   * @default 1
   */
  readonly maximum: number
  /**
   * What happens to a login at the limit: `allow`, `logout_oldest`, `logout_idlest`, `ask`, `block`, or your own mode.
   *
   * `allow` ends all of the user's other sessions, `logout_oldest` the oldest, and `logout_idlest` the one unused for
   * longest. `ask` lets the user choose, and `block` refuses the login. The `strategies` option adds modes.
   *
   * @default 'allow'
   */
  readonly logic: 'allow' | 'logout_oldest' | 'logout_idlest' | 'block' | 'ask' | (string & Record<never, never>)
  /**
   * Seconds without use after which `block` or `ask` ends a session to admit a login: 300 or more, or 0 for never.
   *
   * @default 0
   */
  readonly idle_release: number
  /**
   * Seconds after its login when a session ends, whatever its use: from 60 to 34,560,000 (400 days), or 0 for never.
   *
   * A change applies to a session in use within `touchEvery`.
   *
   * @default 0
   */
  readonly max_age: number
  /**
   * Whether the limit refuses logins and ends sessions. If false, it only reports what it would do.
   *
   * @default true
   */
  readonly enforce: boolean
}

/** Settings in your application's code. */
export interface CodeSettings extends Partial<Omit<SessionSettings, 'maximum' | 'max_age'>> {
  /** Sessions per user: an integer of 1 or more, or a function that returns one for a user id. @default 1 */
  readonly maximum?: number | ((userId: UserId) => number | Promise<number>)
  /**
   * Seconds after its login when a session ends, or a function that returns them for a user id and the label of the
   * session. The result stays with the session. @default 0
   */
  readonly max_age?: number | ((userId: UserId, label: string | undefined) => number | Promise<number>)
}

/** How messages describe a valid maximum. */
export const A_MAXIMUM = 'a whole number, 1 or more'

/** The shortest idle release in seconds, other than 0. */
const LEAST_IDLE = 300
/** How messages describe a valid longest age. */
export const AN_AGE = '0 for never, or from 60 to 34560000 seconds (400 days)'
/** The least and the highest age in seconds, other than 0. Browsers keep no cookie for longer. */
const AGES = [60, 34_560_000] as const

/** What the values of a setting are. `logics` are the modes that the application knows. */
interface SettingRule<T> {
  /** The value where neither the code nor the store has one. */
  readonly initial: T
  /** Describes a valid value. */
  expected(logics: readonly string[]): string
  /** The least number that a request may send. Undefined if the values are not numbers. */
  readonly least?: number
  /** Converts the text of a form field or a command line; returns any other value unchanged. */
  fromText(value: unknown): unknown
  /** Checks whether a new value is valid. */
  isValid(value: unknown, logics: readonly string[]): boolean
  /** Converts any value to a valid one. */
  repaired(value: unknown, logics: readonly string[]): T
}

/** Declares each setting. */
export const SETTINGS: { readonly [Name in keyof SessionSettings]: SettingRule<SessionSettings[Name]> } = {
  maximum: {
    initial: 1,
    expected: () => A_MAXIMUM,
    least: 1,
    fromText: numberOfDigits,
    isValid: isMaximum,
    repaired: (value) => clamp(wholeOf(value), 1),
  },
  logic: {
    initial: 'allow',
    expected: oneOf,
    fromText: (value) => value,
    isValid: (value, logics) => logics.includes(value as string),
    repaired: (value, logics) => (logics.includes(value as string) ? String(value) : 'allow'),
  },
  idle_release: {
    initial: 0,
    expected: () =>
      `0, or ${LEAST_IDLE} seconds or more, because the last use of a session is recorded only every few minutes`,
    least: 0,
    fromText: numberOfDigits,
    isValid: (value) => value === 0 || (Number.isSafeInteger(value) && (value as number) >= LEAST_IDLE),
    repaired(value) {
      const seconds = wholeOf(value)
      return seconds > 0 ? clamp(seconds, LEAST_IDLE) : 0
    },
  },
  max_age: {
    initial: 0,
    expected: () => AN_AGE,
    least: 0,
    fromText: numberOfDigits,
    isValid: isAge,
    repaired(value) {
      const seconds = wholeOf(value)
      return seconds > 0 ? Math.min(clamp(seconds, AGES[0]), AGES[1]) : 0
    },
  },
  enforce: {
    initial: true,
    expected: () => 'true or false',
    fromText: (value) => (value === 'true' || value === 'false' ? value === 'true' : value),
    isValid: (value) => typeof value === 'boolean',
    repaired: (value) => value !== false && value !== 'false',
  },
}

/** Names of the settings. */
export const SETTING_NAMES = Object.keys(SETTINGS) as (keyof SessionSettings)[]

/** Checks whether a name is a setting. */
export function isSetting(name: string): name is keyof SessionSettings {
  return Object.hasOwn(SETTINGS, name)
}

/** Calls a function for each setting, and returns the results by name. */
export function eachSetting<T>(make: (name: keyof SessionSettings) => T): { [Name in keyof SessionSettings]: T } {
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, make(name)])) as { [Name in keyof SessionSettings]: T }
}

/** Maps common mistakes to the settings that were meant. */
export const MEANT_SETTINGS: Readonly<Record<string, string>> = {
  max: 'maximum',
  maxSessions: 'maximum',
  maximumSessions: 'maximum',
  limit: 'maximum',
  mode: 'logic',
  strategy: 'logic',
  onLimit: 'logic',
  idleTimeout: 'idle_release',
  maxAge: 'max_age',
  lifetime: 'max_age',
  reportOnly: 'enforce',
  dryRun: 'enforce',
}

/** Returns what is wrong with a name that is no setting, and the name that was probably meant. */
export function unknownSetting(name: string): string {
  const near = nearestName(name, SETTING_NAMES, MEANT_SETTINGS)
  return near ? `is unknown (did you mean "${near}"?)` : 'is unknown'
}

/** Returns what is wrong with the value of a setting, or undefined if it is valid or missing. */
export function problemOf(name: keyof SessionSettings, value: unknown, logics: readonly string[]): string | undefined {
  const { isValid, expected, least } = SETTINGS[name]
  if (value === undefined || isValid(value, logics)) return undefined
  const most = Number.MAX_SAFE_INTEGER
  const isTooLarge = least !== undefined && isValid(most, logics) && Number.isInteger(value) && (value as number) > most
  return isTooLarge ? `must be at most ${most}` : `must be ${expected(logics)}`
}

/** Converts any value to valid settings. Those that are missing are taken from `fallback`. */
export function sanitizeSettings(
  value: unknown,
  fallback: SessionSettings,
  logics: readonly string[],
): SessionSettings {
  const given = Object.assign(Object.create(null), value)
  return eachSetting<unknown>((name) =>
    given[name] === undefined ? fallback[name] : SETTINGS[name].repaired(given[name], logics),
  ) as SessionSettings
}

/** Checks whether a value is a valid maximum. */
export function isMaximum(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

/** Checks whether a value is a valid longest age. */
export function isAge(value: unknown): value is number {
  return value === 0 || (Number.isSafeInteger(value) && (value as number) >= AGES[0] && (value as number) <= AGES[1])
}

/** Converts a string of digits to a number; returns any other value unchanged. */
export function numberOfDigits(value: unknown): unknown {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
}

/** Describes a value that must be one of several names. */
export function oneOf(names: readonly string[]): string {
  return `one of ${names.join(', ')}`
}

function wholeOf(value: unknown): number {
  const number = numberOfDigits(value)
  return typeof number === 'number' ? Math.trunc(number) : Number.NaN
}

/** Returns `least` for NaN. A number too large to be exact means "no limit", so it becomes the largest exact one. */
function clamp(number: number, least: number): number {
  return Number.isNaN(number) ? least : Math.min(Math.max(number, least), Number.MAX_SAFE_INTEGER)
}
