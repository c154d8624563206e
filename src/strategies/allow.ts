import type { LimitStrategy } from './limit-strategy.ts'

/** Ends all existing sessions and admits the login. */
export const allow: LimitStrategy = {
  id: 'allow',
  label: 'Logout All',
  desc: "The new login succeeds, and all the user's other sessions end.",
  decide: ({ userId, sessions }) => ({
    admit: true,
    end: sessions,
    kind: 'displaced',
    actions: [['sessmgr_destroy_all_sessions', userId]],
  }),
}
