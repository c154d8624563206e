// Written from the docstrings of SessionSettings by `npx vitest run test/docs --update`.

import type { SessionSettings } from '../../options/setting-rules.ts'

/** What each setting is, for the help of the command line. */
export const SETTING_HELP = {
  maximum:
    'Live sessions that each user may have, from 1 to 9,007,199,254,740,991. Values above 1,000 count as 1,000 (default: 1).',
  logic:
    'What happens to a login at the limit: allow, logout_oldest, logout_idlest, ask, block, or your own mode (default: allow).',
  idle_release:
    'Seconds without use after which block or ask ends a session to admit a login: 300 or more, or 0 for never (default: 0).',
  max_age:
    'Seconds after its login when a session ends, whatever its use: from 60 to 34,560,000 (400 days), or 0 for never (default: 0).',
  enforce:
    'Whether the limit refuses logins and ends sessions. If false, it only reports what it would do (default: true).',
} as const satisfies Record<keyof SessionSettings, string>
