import type { LimitStrategy } from './limit-strategy.ts'
import { neededSlots, releaseTime, spareSessions, unusedActions } from './slots.ts'

/** Refuses the login, unless enough of the existing sessions can end instead, because they are idle or nobody has them. */
export const block: LimitStrategy = {
  id: 'block',
  label: 'Block New',
  desc: 'The new login is refused until one of the existing sessions ends.',
  releaseTime,
  decide: (context) => {
    const need = neededSlots(context)
    const end = spareSessions(context).slice(0, need)
    if (end.length === need) return { admit: true, end, kind: 'idle', actions: unusedActions(end) }
    return { admit: false, end: [], actions: [['sessmgr_login_blocked', context.userId]] }
  },
}
