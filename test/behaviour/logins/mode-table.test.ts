import { describe, expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'

/** After each of five logins, the live ones by number, oldest first. */
type Survivors = readonly [number[], number[], number[], number[], number[]]

const TABLE: { logic: string; maximum: number; survivors: Survivors; actions: (string | null)[] }[] = [
  {
    logic: 'allow',
    maximum: 1,
    survivors: [[1], [2], [3], [4], [5]],
    actions: [null, 'all', 'all', 'all', 'all'],
  },
  {
    logic: 'allow',
    maximum: 2,
    survivors: [[1], [1, 2], [3], [3, 4], [5]],
    actions: [null, null, 'all', null, 'all'],
  },
  {
    logic: 'allow',
    maximum: 3,
    survivors: [[1], [1, 2], [1, 2, 3], [4], [4, 5]],
    actions: [null, null, null, 'all', null],
  },
  {
    logic: 'logout_oldest',
    maximum: 1,
    survivors: [[1], [2], [3], [4], [5]],
    actions: [null, 'oldest', 'oldest', 'oldest', 'oldest'],
  },
  {
    logic: 'logout_oldest',
    maximum: 2,
    survivors: [[1], [1, 2], [2, 3], [3, 4], [4, 5]],
    actions: [null, null, 'oldest', 'oldest', 'oldest'],
  },
  {
    logic: 'logout_oldest',
    maximum: 3,
    survivors: [[1], [1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]],
    actions: [null, null, null, 'oldest', 'oldest'],
  },
  {
    logic: 'block',
    maximum: 1,
    survivors: [[1], [1], [1], [1], [1]],
    actions: [null, 'blocked', 'blocked', 'blocked', 'blocked'],
  },
  {
    logic: 'block',
    maximum: 2,
    survivors: [[1], [1, 2], [1, 2], [1, 2], [1, 2]],
    actions: [null, null, 'blocked', 'blocked', 'blocked'],
  },
  {
    logic: 'block',
    maximum: 3,
    survivors: [[1], [1, 2], [1, 2, 3], [1, 2, 3], [1, 2, 3]],
    actions: [null, null, null, 'blocked', 'blocked'],
  },
]

const ACTIONS: Record<string, string> = {
  all: 'sessmgr_destroy_all_sessions',
  oldest: 'sessmgr_destroy_oldest_session',
  blocked: 'sessmgr_login_blocked',
}

describe.each(TABLE)('mode $logic, maximum $maximum, five logins', ({ logic, maximum, survivors, actions }) => {
  test('leave the right sessions, admit the right logins and fire the right actions', async () => {
    const host = await startExpressHost({ settings: { maximum, logic } })
    const browsers = Array.from({ length: 5 }, () => host.browser())

    for (const [index, browser] of browsers.entries()) {
      const answer = await browser.login('alice')
      expect(answer.status).toBe(actions[index] === 'blocked' ? 403 : 200)

      const states = await Promise.all(browsers.map((each) => each.copy().me()))
      const live = states.flatMap((status, at) => (status === 200 ? [at + 1] : []))
      expect(live).toEqual(survivors[index])
      expect(await host.limiter.sessions.count(2)).toBe(survivors[index]?.length)

      const fired = actions[index]
      expect(host.actions.splice(0)).toEqual(fired ? [[ACTIONS[fired], 2]] : [])
    }
  })
})

test.each(['allow', 'logout_oldest', 'block'])(
  'logins of one user do not touch another one, in mode %s',
  async (logic) => {
    const host = await startExpressHost({ settings: { maximum: 1, logic } })
    const other = await host.signedIn('bob')
    for (let login = 0; login < 5; login++) await host.browser().login('alice')
    expect(await other.me()).toBe(200)
    expect(await host.limiter.sessions.count(3)).toBe(1)
  },
)
