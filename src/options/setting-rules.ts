import { nearestName } from '../ground/option-checks.ts'
import type { UserId } from '../ground/user-id.ts'

/** The settings of the session limit. */
export interface SessionSettings {
  /** Sessions that one user may hold: an integer, 1 or more. @default 1 */
  readonly maximum: number
  /**
   * What happens to a login when the limit is reached: `allow` ends all sessions of the user, `logout_oldest` ends the
   * oldest, `block` refuses the login. An application may add modes.
   *
   * @default 'allow'
   */
  readonly logic: 'allow' | 'logout_oldest' | 'block' | (string & Record<never, never>)
}

/** Settings that an application gives in its code. */
export interface CodeSettings {
  /** Sessions that one user may hold: a number for everybody, or a function that returns the number for a user. */
  readonly maximum?: number | ((userId: UserId) => number | Promise<number>)
  /** What happens to a login when the limit is reached, as in {@link SessionSettings}. */
  readonly logic?: SessionSettings['logic']
}

/** The names of the settings of the session limit. */
export const SETTING_NAMES = ['maximum', 'logic'] as const satisfies readonly (keyof SessionSettings)[]

/** Checks whether a name is that of a setting. */
export function isSetting(name: string): name is keyof SessionSettings {
  return (SETTING_NAMES as readonly string[]).includes(name)
}

/** The names by what people write in their place. */
export const MEANT_SETTINGS: Readonly<Record<string, string>> = {
  max: 'maximum',
  limit: 'maximum',
  mode: 'logic',
  strategy: 'logic',
  onLimit: 'logic',
}

/** Says that a name is no setting, and which one it most likely meant. */
export function unknownSetting(name: string): string {
  const near = nearestName(name, SETTING_NAMES, MEANT_SETTINGS)
  return near ? `is unknown (did you mean "${near}"?)` : 'is unknown'
}

/** Logic modes that the sanitiser always lets through. */
export const BUILT_IN_LOGICS: readonly string[] = ['allow', 'logout_oldest', 'block']

/** What a maximum is, for people. */
export const A_MAXIMUM = 'a whole number, 1 or more'
/** The smallest maximum. */
export const LEAST = 1

/** Checks whether a value is a maximum. */
export function isMaximum(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= LEAST
}

/** Says what keeps a value from being a maximum; undefined when nothing does. */
export function maximumProblem(value: unknown): string | undefined {
  if (isMaximum(value)) return undefined
  return Number.isInteger(value) && (value as number) < LEAST ? `must be ${LEAST} or more` : 'must be a whole number'
}

/** Returns the number that digits make; any other value as it is. */
export function numberOfDigits(value: unknown): unknown {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
}

/** Says which modes there are. */
export function oneOf(logics: readonly string[]): string {
  return `must be one of ${logics.join(', ')}`
}

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

/** Coerces any value to a maximum. */
export function clampMaximum(value: unknown): number {
  const number = typeof value === 'number' || typeof value === 'string' ? Math.trunc(Number(value)) : Number.NaN
  // Whoever writes a number beyond all bounds means that there should be no limit.
  return Number.isNaN(number) ? LEAST : Math.min(Math.max(number, LEAST), Number.MAX_SAFE_INTEGER)
}
