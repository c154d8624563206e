import type { LimitStrategy } from './limit-strategy.ts'

/** Refuses the login and keeps the existing sessions. */
export const block: LimitStrategy = {
  id: 'block',
  label: 'Block New',
  desc: 'The new login is refused until one of the existing sessions ends.',
  decide: ({ userId }) => ({ admit: false, end: [], actions: [['sessmgr_login_blocked', userId]] }),
}
