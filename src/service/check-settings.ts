import { invalidOption } from '../ground/invalid-option.ts'
import { inWords, nearestName, requireKnown, requireObject } from '../ground/option-checks.ts'
import {
  BUILT_IN_LOGICS,
  type CodeSettings,
  idleProblem,
  isMaximum,
  MEANT_SETTINGS,
  SETTING_NAMES,
  switchProblem,
} from '../options/setting-rules.ts'
import type { LimitStrategy } from '../strategies/limit-strategy.ts'

/**
 * Checks the option `settings`, and drops undefined settings.
 *
 * @throws SessmgrError `invalid_option` with the setting and, if it looks mistyped, the nearest known name.
 */
export function checkSettings(
  settings: { [K in keyof CodeSettings]?: CodeSettings[K] | undefined } = {},
  strategies: readonly LimitStrategy[],
): CodeSettings {
  requireObject('"settings"', settings)
  requireKnown(settings, SETTING_NAMES, (name) => `There is no option "settings.${name}"`, MEANT_SETTINGS)
  const { maximum, logic, idle_release, enforce } = settings
  if (maximum !== undefined && typeof maximum !== 'function' && !isMaximum(maximum)) {
    throw invalidOption(
      `"settings.maximum" must be a whole number of at least 1, or a function of the user id; got ${inWords(maximum)}`,
    )
  }
  const logics = [...BUILT_IN_LOGICS, ...strategies.map(({ id }) => id)]
  if (logic !== undefined && !logics.includes(logic)) {
    const near = nearestName(String(logic), logics)
    throw invalidOption(`"settings.logic" must be one of ${logics.join(', ')}; got ${String(logic)}`, near)
  }
  for (const [name, value, problemOf] of [
    ['idle_release', idle_release, idleProblem],
    ['enforce', enforce, switchProblem],
  ] as const) {
    const problem = value === undefined ? undefined : problemOf(value)
    if (problem) throw invalidOption(`"settings.${name}" ${problem}; got ${inWords(value)}`)
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}
