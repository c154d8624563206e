import type { SessionSettings } from '../../src/index.ts'
import { BUILT_IN } from '../../src/strategies/logic-catalogue.ts'

/** The stored values of the built-in modes. */
export const BUILT_IN_LOGICS: readonly string[] = BUILT_IN.map(({ id }) => id)

/** The settings that most tests choose. */
export type LimitSettings = Pick<SessionSettings, 'maximum' | 'logic'> & Partial<SessionSettings>

/** Returns all settings: the given ones, and built-in defaults for the others. */
export function wholeSettings(given: Partial<SessionSettings> = {}): SessionSettings {
  return { maximum: 1, logic: 'allow', idle_release: 0, max_age: 0, enforce: true, ...given }
}
