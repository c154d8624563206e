import type { LimitStrategy } from './limit-strategy.ts'
import { neededSlots, oldestFirst } from './slots.ts'

/** Admits the login, and ends just enough of the oldest sessions to stay within the limit. */
export const logoutOldest: LimitStrategy = {
  id: 'logout_oldest',
  label: 'Logout Oldest',
  desc: 'The new login succeeds, and the oldest sessions end to make room.',
  decide: (context) => {
    const end = oldestFirst(context).slice(0, neededSlots(context))
    return { admit: true, end, actions: end.map(() => ['sessmgr_destroy_oldest_session', context.userId]) }
  },
}
