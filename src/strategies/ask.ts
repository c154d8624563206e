import type { LimitStrategy } from './limit-strategy.ts'

/** Admits the login once the user has chosen enough sessions to end. */
export const ask: LimitStrategy = {
  id: 'ask',
  label: 'Let the User Choose',
  desc: 'The new login waits until the user has chosen which of the earlier sessions to end.',
  decide: ({ sessions, maximum, chosen }) => {
    const choose = Math.max(1, sessions.length - maximum + 1)
    if (chosen.length >= choose) return { admit: true, end: [], actions: [] }
    return { admit: false, end: [], actions: [], choose }
  },
}
