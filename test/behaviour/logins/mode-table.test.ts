import { describe, expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'

const ACTIONS: Record<string, string> = {
  all: 'sessmgr_destroy_all_sessions',
  oldest: 'sessmgr_destroy_oldest_session',
  blocked: 'sessmgr_login_blocked',
}

/** After each of five logins, the live ones by number, oldest first, and the action that the login fires. */
const TABLE: [logic: string, rows: [maximum: number, after: string][]][] = [
  [
    'rule 3: allow',
    [
      [1, '1 | 2 all | 3 all | 4 all | 5 all'],
      [2, '1 | 12 | 3 all | 34 | 5 all'],
      [3, '1 | 12 | 123 | 4 all | 45'],
    ],
  ],
  [
    'rule 4: logout_oldest',
    [
      [1, '1 | 2 oldest | 3 oldest | 4 oldest | 5 oldest'],
      [2, '1 | 12 | 23 oldest | 34 oldest | 45 oldest'],
      [3, '1 | 12 | 123 | 234 oldest | 345 oldest'],
    ],
  ],
  [
    'rule 11: block',
    [
      [1, '1 | 1 blocked | 1 blocked | 1 blocked | 1 blocked'],
      [2, '1 | 12 | 12 blocked | 12 blocked | 12 blocked'],
      [3, '1 | 12 | 123 | 123 blocked | 123 blocked'],
    ],
  ],
]

describe.each(TABLE)('%s', (name, rows) => {
  test.each(rows)('at maximum %i, five logins leave %s, and touch no other user', async (maximum, after) => {
    const logic = name.split(': ')[1] as string
    const host = await startExpressHost({ settings: { maximum, logic } })
    const other = await host.signedIn('bob')
    const browsers = Array.from({ length: 5 }, () => host.browser())
    const seen: string[] = []
    for (const browser of browsers) {
      const { status } = await browser.login('alice')
      const states = await Promise.all(browsers.map((each) => each.copy().me()))
      const live = states.map((state, at) => (state === 200 ? at + 1 : '')).join('')
      expect(await host.limiter.sessions.count(2)).toBe(live.length)
      const fired = host.actions.splice(0)
      const action = Object.keys(ACTIONS).find((key) => ACTIONS[key] === fired[0]?.[0])
      expect(fired).toEqual(action ? [[ACTIONS[action], 2]] : [])
      expect(status).toBe(action === 'blocked' ? 403 : 200)
      seen.push([live, action].filter(Boolean).join(' '))
    }
    expect(seen.join(' | ')).toBe(after)
    expect([await other.me(), await host.limiter.sessions.count(3)]).toEqual([200, 1])
  })
})
