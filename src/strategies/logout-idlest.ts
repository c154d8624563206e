import type { LimitStrategy } from './limit-strategy.ts'
import { longestUnusedFirst, neededSlots, unusedActions } from './slots.ts'

/** Admits the login, and ends just enough of the longest-unused sessions to stay within the limit. */
export const logoutIdlest: LimitStrategy = {
  id: 'logout_idlest',
  label: 'Logout Longest Unused',
  desc: 'The new login succeeds, and the sessions that have been unused the longest end to make room.',
  decide: (context) => {
    const end = longestUnusedFirst(context).slice(0, neededSlots(context))
    return { admit: true, end, actions: unusedActions(end) }
  },
}
