import { ACTIVITY } from './tabs/activity.ts'
import { ADDONS } from './tabs/addons.ts'
import { COMMENTS } from './tabs/comments.ts'
import { FRAME } from './tabs/frame.ts'
import { PASSWORDS } from './tabs/passwords.ts'
import { SESSIONS } from './tabs/sessions.ts'
import { SETTINGS } from './tabs/settings.ts'
import { SUPPORT } from './tabs/support.ts'

/** All texts of the screen. `{name}` is a placeholder; `_one` and `_other` are the singular and the plural. */
export const TEXTS = {
  ...FRAME,
  ...ACTIVITY,
  ...SETTINGS,
  ...PASSWORDS,
  ...SESSIONS,
  ...COMMENTS,
  ...ADDONS,
  ...SUPPORT,
} as const satisfies Record<string, string>
