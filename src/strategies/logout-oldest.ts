import type { LimitStrategy } from './limit-strategy.ts'

/** Ends as many of the oldest sessions as needed to stay within the limit, and admits the login. */
export const logoutOldest: LimitStrategy = {
  id: 'logout_oldest',
  label: 'Logout Oldest',
  desc: 'The new login succeeds, and the oldest sessions end to make room.',
  decide: ({ userId, sessions, maximum }) => {
    const end = sessions.slice(0, Math.max(1, sessions.length - maximum + 1))
    return { admit: true, end, actions: end.map(() => ['sessmgr_destroy_oldest_session', userId]) }
  },
}
