import { nearestName } from '../ground/option-checks.ts'
import type { UserId } from '../ground/user-id.ts'

/** The settings of the session limit. */
export interface SessionSettings {
  /** Sessions that each user may have: an integer, 1 or more. @default 1 */
  readonly maximum: number
  /**
   * What happens when a user at the limit logs in: `allow` ends all other sessions of the user, `logout_oldest` ends
   * the oldest, and `block` refuses the login. The option `strategies` adds modes.
   *
   * @default 'allow'
   */
  readonly logic: 'allow' | 'logout_oldest' | 'block' | (string & Record<never, never>)
}

/** Settings in the code of your application. */
export interface CodeSettings {
  /**
   * Sessions that each user may have: an integer of 1 or more, or a function that returns it for a user id. @default 1
   */
  readonly maximum?: number | ((userId: UserId) => number | Promise<number>)
  /**
   * What happens when a user at the limit logs in: `allow` ends all other sessions of the user, `logout_oldest` ends
   * the oldest, and `block` refuses the login. The option `strategies` adds modes.
   *
   * @default 'allow'
   */
  readonly logic?: SessionSettings['logic']
}

/** Names of the settings. */
export const SETTING_NAMES = ['maximum', 'logic'] as const satisfies readonly (keyof SessionSettings)[]

/** Checks whether a name is a setting. */
export function isSetting(name: string): name is keyof SessionSettings {
  return (SETTING_NAMES as readonly string[]).includes(name)
}

/** Maps common mistakes to names of settings. */
export const MEANT_SETTINGS: Readonly<Record<string, string>> = {
  max: 'maximum',
  limit: 'maximum',
  mode: 'logic',
  strategy: 'logic',
  onLimit: 'logic',
}

/** Returns the message for an unknown setting, with the name that was probably meant. */
export function unknownSetting(name: string): string {
  const near = nearestName(name, SETTING_NAMES, MEANT_SETTINGS)
  return near ? `is unknown (did you mean "${near}"?)` : 'is unknown'
}

/** Modes that the sanitizer always accepts. */
export const BUILT_IN_LOGICS: readonly string[] = ['allow', 'logout_oldest', 'block', 'ask']

/** Describes a valid maximum in messages. */
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
  return Number.isInteger(value) && (value as number) < LEAST ? `must be ${LEAST} or more` : 'must be a whole number'
}

/** Converts a string of digits to a number; returns any other value unchanged. */
export function numberOfDigits(value: unknown): unknown {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
}

/** Returns the message for an unknown mode, with the valid ones. */
export function oneOf(logics: readonly string[]): string {
  return `must be one of ${logics.join(', ')}`
}

/** Converts any value to valid settings: a `maximum` below 1 becomes 1, an unknown `logic` becomes `allow`. */
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

/** Converts any value to a valid maximum. */
export function clampMaximum(value: unknown): number {
  const number = typeof value === 'number' || typeof value === 'string' ? Math.trunc(Number(value)) : Number.NaN
  // A number too large to be exact means "no limit".
  return Number.isNaN(number) ? LEAST : Math.min(Math.max(number, LEAST), Number.MAX_SAFE_INTEGER)
}
