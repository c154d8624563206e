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
   * Whether the limit refuses logins and ends sessions. If false, it only reports what it would do.
   *
   * @default true
   */
  readonly enforce: boolean
}

/** Settings in your application's code. */
export interface CodeSettings extends Partial<Omit<SessionSettings, 'maximum'>> {
  /** Sessions per user: an integer of 1 or more, or a function that returns one for a user id. @default 1 */
  readonly maximum?: number | ((userId: UserId) => number | Promise<number>)
}

/** Names of the settings. */
export const SETTING_NAMES = [
  'maximum',
  'logic',
  'idle_release',
  'enforce',
] as const satisfies readonly (keyof SessionSettings)[]

/** Checks whether a name is a setting. */
export function isSetting(name: string): name is keyof SessionSettings {
  return (SETTING_NAMES as readonly string[]).includes(name)
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
  reportOnly: 'enforce',
  dryRun: 'enforce',
}

/** Returns the message for an unknown setting, with the name that was probably meant. */
export function unknownSetting(name: string): string {
  const near = nearestName(name, SETTING_NAMES, MEANT_SETTINGS)
  return near ? `is unknown (did you mean "${near}"?)` : 'is unknown'
}

/** How messages describe a valid maximum. */
export const A_MAXIMUM = 'a whole number, 1 or more'
/** The smallest valid maximum. */
export const LEAST = 1

/** Checks whether a value is a valid maximum. */
export function isMaximum(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= LEAST
}

/** Returns what is wrong with a maximum, or undefined if it is valid. */
export function maximumProblem(value: unknown): string | undefined {
  if (isMaximum(value)) return undefined
  const isTooLarge = Number.isInteger(value) && (value as number) > LEAST
  return `must be ${isTooLarge ? `a whole number from ${LEAST} to ${Number.MAX_SAFE_INTEGER}` : A_MAXIMUM}`
}

/** Converts a string of digits to a number; returns any other value unchanged. */
export function numberOfDigits(value: unknown): unknown {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
}

/** Returns the message for an unknown mode, with the valid ones. */
export function oneOf(logics: readonly string[]): string {
  return `must be one of ${logics.join(', ')}`
}

/** The shortest idle release in seconds, other than 0. */
const LEAST_IDLE = 300
/** How messages describe a valid idle release. */
export const AN_IDLE_RELEASE = `0, or ${LEAST_IDLE} seconds or more, because the last use of a session is recorded only every few minutes`
/** How messages describe a valid value of `enforce`. */
export const A_SWITCH = 'true or false'

/** Returns what is wrong with an idle release, or undefined if it is valid. */
export function idleProblem(value: unknown): string | undefined {
  const isValid = value === 0 || (Number.isSafeInteger(value) && (value as number) >= LEAST_IDLE)
  return isValid ? undefined : `must be ${AN_IDLE_RELEASE}`
}

/** Returns what is wrong with a value of `enforce`, or undefined if it is valid. */
export function switchProblem(value: unknown): string | undefined {
  return typeof value === 'boolean' ? undefined : `must be ${A_SWITCH}`
}

/** Converts the strings "true" and "false" to booleans; returns any other value unchanged. */
export function switchOfWord(value: unknown): unknown {
  return value === 'true' || value === 'false' ? value === 'true' : value
}

/**
 * Converts any value to valid settings: numbers are clamped to their range, an unknown `logic` becomes `allow`, and
 * `enforce` is true unless turned off.
 */
export function sanitizeSettings(
  value: unknown,
  fallback: SessionSettings,
  logics: readonly string[],
): SessionSettings {
  const given = Object.assign(Object.create(null), value) as { [K in keyof SessionSettings]?: unknown }
  const { maximum = fallback.maximum, logic, idle_release = fallback.idle_release, enforce = fallback.enforce } = given
  return {
    ...inRange({ maximum, idle_release, enforce }),
    logic: logic === undefined ? fallback.logic : logics.includes(logic as string) ? String(logic) : 'allow',
  }
}

/** Converts the values of all settings except `logic` to valid ones. */
export function inRange(values: { maximum: unknown; idle_release: unknown; enforce: unknown }) {
  const idle = wholeOf(values.idle_release)
  return {
    maximum: clamp(wholeOf(values.maximum), LEAST),
    idle_release: idle > 0 ? clamp(idle, LEAST_IDLE) : 0,
    enforce: switchOfWord(values.enforce) !== false,
  }
}

function wholeOf(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Math.trunc(Number(value)) : Number.NaN
}

/** Returns `least` for NaN. A number too large to be exact means "no limit", so it becomes the largest exact one. */
function clamp(number: number, least: number): number {
  return Number.isNaN(number) ? least : Math.min(Math.max(number, least), Number.MAX_SAFE_INTEGER)
}
