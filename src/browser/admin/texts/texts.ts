import { SAVE_TEXTS } from '../options/save-texts.ts'
import { EXPLAIN_TEXTS } from '../sessions/person/explain-texts.ts'
import { ACTIVITY_TEXTS } from './activity-texts.ts'
import { ADDONS_TEXTS } from './addons-texts.ts'
import { COMMENTS_TEXTS } from './comments-texts.ts'
import { LIST_TEXTS } from './list-texts.ts'
import { PEOPLE_TEXTS } from './people-texts.ts'
import { PERSON_TEXTS } from './person-texts.ts'
import { SETTINGS_TEXTS } from './settings-texts.ts'
import { SHELL_TEXTS } from './shell-texts.ts'
import { SUPPORT_TEXTS } from './support-texts.ts'

/**
 * All texts of the screen. `{name}` is a placeholder; `_one` and `_other` are the singular and the plural. The screen
 * itself loads the texts of a tab with that tab.
 */
export const TEXTS = {
  ...SHELL_TEXTS,
  ...SAVE_TEXTS,
  ...LIST_TEXTS,
  ...PEOPLE_TEXTS,
  ...PERSON_TEXTS,
  ...EXPLAIN_TEXTS,
  ...ACTIVITY_TEXTS,
  ...SETTINGS_TEXTS,
  ...COMMENTS_TEXTS,
  ...ADDONS_TEXTS,
  ...SUPPORT_TEXTS,
} as const satisfies Record<string, string>
