import type { SessionSettings } from '../../src/index.ts'

/** The settings that most tests choose. */
export type LimitSettings = Pick<SessionSettings, 'maximum' | 'logic'> & Partial<SessionSettings>

/** Returns all settings: the given ones, and built-in defaults for the others. */
export function wholeSettings(given: Partial<SessionSettings> = {}): SessionSettings {
  return { maximum: 1, logic: 'allow', idle_release: 0, enforce: true, ...given }
}
