import type { LimitStrategy } from './limit-strategy.ts'
import { neededSlots, releaseTime, spareSessions, unusedActions } from './slots.ts'

/** Admits the login once the user has chosen enough sessions to end. Spare sessions can replace missing choices. */
export const ask: LimitStrategy = {
  id: 'ask',
  label: 'Let the User Choose',
  desc: 'The new login waits until the user chooses which earlier sessions to end.',
  asks: true,
  releaseTime,
  decide: (context) => {
    const choose = neededSlots(context)
    const left = Math.max(0, choose - context.chosen.length)
    const spare = spareSessions(context).filter((session) => !context.chosen.includes(session))
    const end = spare.slice(0, left)
    if (end.length === left) return { admit: true, end, kind: 'idle', actions: unusedActions(end) }
    return { admit: false, end: [], actions: [], choose }
  },
}
