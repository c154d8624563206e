import type { LimitStrategy } from './limit-strategy.ts'
import { longestUnusedFirst, neededSlots } from './slots.ts'

/** Ends as many of the longest unused sessions as needed to stay within the limit, and admits the login. */
export const logoutIdlest: LimitStrategy = {
  id: 'logout_idlest',
  label: 'Logout Longest Unused',
  desc: 'The new login succeeds, and the sessions that have been unused the longest end to make room.',
  decide: (context) => ({
    admit: true,
    end: longestUnusedFirst(context).slice(0, neededSlots(context)),
    actions: [],
  }),
}
