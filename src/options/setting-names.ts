import { nearestName } from '../ground/nearest-name.ts'
import type { SessionSettings } from './session-settings.ts'

/** The names of the settings of the session limit. */
export const SETTING_NAMES: readonly string[] = ['maximum', 'logic'] satisfies (keyof SessionSettings)[]

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
  const near =
    (Object.hasOwn(MEANT_SETTINGS, name) ? MEANT_SETTINGS[name] : undefined) ?? nearestName(name, SETTING_NAMES)
  return near ? `is unknown (did you mean "${near}"?)` : 'is unknown'
}
