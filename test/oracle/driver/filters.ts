import type { LimitStrategy, Sessmgr, UserId } from '../../../src/index.ts'
import { type FilterName, USERS } from '../histories/commands.ts'

const { ann, bob, cid } = USERS
const is = (user: UserId, userId: UserId) => String(user) === String(userId)

/** The subscribers that a history may have, by name. Half of them answer later. `tell` hears of every question. */
const FILTERS: Readonly<Record<FilterName, (hooks: Sessmgr['hooks'], tell: (question: string) => void) => void>> = {
  'bob is exempt': (hooks, tell) =>
    void hooks.addFilter('sessmgr_bypass', 'bob', (bypass, user) => {
      tell(`bypass ${bypass} ${user}`)
      return bypass || is(user, bob)
    }),
  'nobody has reached the limit': (hooks, tell) =>
    void hooks.addFilter('sessmgr_reached_limit', 'never', async (reached, user, count) => {
      tell(`reached_limit ${reached} ${user} ${count}`)
      return false
    }),
  'everybody has reached the limit': (hooks, tell) =>
    void hooks.addFilter('sessmgr_reached_limit', 'always', (reached, user, count) => {
      tell(`reached_limit ${reached} ${user} ${count}`)
      return true
    }),
  'two are the limit': (hooks, tell) =>
    void hooks.addFilter('sessmgr_reached_limit', 'two', (reached, user, count) => {
      tell(`reached_limit ${reached} ${user} ${count}`)
      return count >= 2
    }),
  'ann is only reported': (hooks, tell) =>
    void hooks.addFilter('sessmgr_enforce', 'ann', async (enforced, user) => {
      tell(`enforce ${enforced} ${user}`)
      return enforced && !is(user, ann)
    }),
  'bob may have three': (hooks, tell) =>
    void hooks.addFilter('sessmgr_maximum', 'bob', async (maximum, user) => {
      tell(`maximum ${maximum} ${user}`)
      return is(user, bob) ? 3 : maximum
    }),
  'bob may have no whole number': (hooks, tell) =>
    void hooks.addFilter('sessmgr_maximum', 'bob', (maximum, user) => {
      tell(`maximum ${maximum} ${user}`)
      return is(user, bob) ? 1.5 : maximum
    }),
  'the default is two in block mode': (hooks) =>
    void hooks.addFilter('sessmgr_settings_defaults', 'two', (defaults) => ({
      ...defaults,
      maximum: 2,
      logic: 'block',
    })),
  'cid makes a filter fail': (hooks, tell) =>
    void hooks.addFilter('sessmgr_reached_limit', 'fail', (reached, user, count) => {
      tell(`reached_limit ${reached} ${user} ${count}`)
      if (is(user, cid)) throw new Error('the filter fails')
      return reached
    }),
  'cid is exempt by a word': (hooks, tell) =>
    void hooks.addFilter('sessmgr_bypass', 'cid', (bypass, user) => {
      tell(`bypass ${bypass} ${user}`)
      return is(user, cid) ? ('yes' as never) : bypass
    }),
}

/** Subscribes the filters of a history. The message of a refused login is known by its own. */
export function addFilters({ hooks }: Sessmgr, names: readonly FilterName[], tell: (question: string) => void): void {
  for (const name of names) FILTERS[name](hooks, tell)
}

const needed = (count: number, maximum: number) => Math.max(1, count - maximum + 1)

/** Modes of add-ons: one that ends the youngest sessions, one that is of two minds, one that ends too few, one that asks. */
export const ADDON_MODES: readonly LimitStrategy[] = [
  {
    id: 'youngest',
    label: 'Youngest',
    desc: 'Ends the youngest sessions.',
    decide({ sessions, maximum, userId }) {
      const end = sessions.toReversed().slice(0, needed(sessions.length, maximum))
      return { admit: true, end, actions: end.map(({ token }) => ['sessmgr_destroy_session', userId, token] as const) }
    },
  },
  {
    id: 'fussy',
    label: 'Fussy',
    desc: 'Refuses logins to users with an odd number of sessions.',
    decide({ sessions, userId }) {
      if (sessions.length % 2 === 1) return { admit: false, end: [], actions: [['sessmgr_login_blocked', userId]] }
      return { admit: true, end: sessions, kind: 'idle', actions: [['sessmgr_destroy_all_sessions', userId]] }
    },
  },
  {
    id: 'too_few',
    label: 'Too few',
    desc: 'Ends one session, however many are too many.',
    decide: ({ sessions }) => ({ admit: true, end: sessions.slice(0, 1), actions: [] }),
  },
  {
    id: 'asks',
    label: 'Asks',
    desc: 'Asks for one session.',
    decide: ({ chosen }) =>
      chosen.length > 0 ? { admit: true, end: [], actions: [] } : { admit: false, end: [], actions: [], choose: 1 },
  },
]
