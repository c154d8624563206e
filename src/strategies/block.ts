import type { LimitStrategy } from './limit-strategy.ts'
import { idleSessions, neededSlots, unusedActions } from './slots.ts'

/** Refuses the login, unless enough of the existing sessions are idle and can end instead. */
export const block: LimitStrategy = {
  id: 'block',
  label: 'Block New',
  desc: 'The new login is refused until one of the existing sessions ends.',
  decide: (context) => {
    const need = neededSlots(context)
    const idle = idleSessions(context).slice(0, need)
    if (idle.length === need) return { admit: true, end: idle, kind: 'idle', actions: unusedActions(idle) }
    return { admit: false, end: [], actions: [['sessmgr_login_blocked', context.userId]] }
  },
}
