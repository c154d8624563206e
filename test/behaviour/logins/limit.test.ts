import { describe, expect, test } from 'vitest'
import { type Sessmgr, sessmgr } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { rounds } from '../../support/rounds.ts'
import { startProcesses } from '../../support/start-processes.ts'
import { highestCount } from '../../support/watch-count.ts'

const MODES = ['allow', 'logout_oldest', 'block'] as const
const LOGINS = rounds(24)

describe('rule 1: the default settings', () => {
  test('are one session and mode allow', async () => {
    expect(await sessmgr().settings.get()).toEqual({ maximum: 1, logic: 'allow', idle_release: 0, enforce: true })
    const host = await startExpressHost()
    const laptop = await host.signedIn('alice')
    const phone = await host.signedIn('alice')
    expect([await laptop.me(), await phone.me()]).toEqual([401, 200])
  })

  test('give way to any maximum up to the largest safe integer', async () => {
    const host = await startExpressHost({ settings: { maximum: Number.MAX_SAFE_INTEGER, logic: 'block' } })
    for (let login = 0; login < 5; login++) await host.signedIn('alice')
    expect(await host.limiter.sessions.count(2)).toBe(5)
    const settings = await host.limiter.settings.update({ maximum: Number.MAX_SAFE_INTEGER })
    expect(settings.maximum).toBe(9_007_199_254_740_991)
  })

  test('hold from the next login on when they are changed', async () => {
    const host = await startExpressHost({ settings: { maximum: 3, logic: 'block' } })
    const browsers = [await host.signedIn('alice'), await host.signedIn('alice')]
    await host.limiter.settings.update({ maximum: 2 })
    expect((await host.browser().login('alice')).status).toBe(403)
    await host.limiter.settings.update({ logic: 'allow' })
    expect(await Promise.all(browsers.map((browser) => browser.me()))).toEqual([200, 200])
    await host.signedIn('alice')
    expect(await Promise.all(browsers.map((browser) => browser.me()))).toEqual([401, 401])
  })
})

describe.each(MODES)('rule 2: in mode %s', (logic) => {
  test('a wrong password disturbs nothing and does not tell that the account is in use', async () => {
    const host = await startExpressHost({ settings: { maximum: 1, logic } })
    const laptop = await host.signedIn('alice')
    const inUse = await host.browser().post('/login', { username: 'alice', password: 'wrong' })
    const notInUse = await host.browser().post('/login', { username: 'bob', password: 'wrong' })
    expect([inUse.status, inUse.text]).toEqual([401, 'Unauthorized'])
    expect([notInUse.status, notInUse.text]).toEqual([401, 'Unauthorized'])
    expect(await laptop.me()).toBe(200)
    expect(host.actions).toEqual([])
    expect(host.limiter.hooks.didFilter('sessmgr_bypass')).toBe(1)
  })
})

describe('rule 3: mode allow', () => {
  test('at the limit ends all old sessions', async () => {
    const host = await startExpressHost({ settings: { maximum: 2, logic: 'allow' } })
    const old = [await host.signedIn('alice'), await host.signedIn('alice')]
    const third = await host.signedIn('alice')
    expect(await Promise.all(old.map((browser) => browser.me()))).toEqual([401, 401])
    expect(await third.me()).toBe(200)
    expect(await host.limiter.sessions.count(2)).toBe(1)
    expect(host.actions).toEqual([['sessmgr_destroy_all_sessions', 2]])
  })

  test('never means unlimited', async () => {
    const host = await startExpressHost({ settings: { maximum: 2, logic: 'allow' } })
    for (let login = 0; login < 7; login++) {
      await host.signedIn('alice')
      expect(await host.limiter.sessions.count(2)).toBe([1, 2, 1, 2, 1, 2, 1][login])
    }
  })
})

describe('rule 4: mode logout_oldest', () => {
  async function fiveSessionsThenMaximum(maximum: number) {
    const host = await startExpressHost({ settings: { maximum: 5, logic: 'logout_oldest' } })
    const old: Browser[] = []
    for (let login = 0; login < 5; login++) old.push(await host.signedIn('alice'))
    await host.limiter.settings.update({ maximum })
    const newest = await host.signedIn('alice')
    return { host, states: await Promise.all([...old, newest].map((browser) => browser.me())) }
  }

  test.each([
    [5, [401, 200, 200, 200, 200, 200], 1],
    [4, [401, 401, 200, 200, 200, 200], 2],
    [2, [401, 401, 401, 401, 200, 200], 4],
    [1, [401, 401, 401, 401, 401, 200], 5],
  ])(
    'with the maximum lowered to %i ends as many of the oldest as it takes, and tells of each',
    async (maximum, expected, ended) => {
      const { host, states } = await fiveSessionsThenMaximum(maximum)
      expect(states).toEqual(expected)
      expect(host.actions).toEqual(Array(ended).fill(['sessmgr_destroy_oldest_session', 2]))
    },
  )

  test('ends at least one when a filter says that the limit is reached', async () => {
    const host = await startExpressHost({ settings: { maximum: 5, logic: 'logout_oldest' } })
    const old = [await host.signedIn('alice'), await host.signedIn('alice')]
    host.limiter.hooks.addFilter('sessmgr_reached_limit', 'test', () => true)
    const newest = await host.signedIn('alice')
    expect(await Promise.all([...old, newest].map((browser) => browser.me()))).toEqual([401, 200, 200])
    expect(host.actions).toEqual([['sessmgr_destroy_oldest_session', 2]])
  })
})

const settings = MODES.map((logic) => ({ logic, maximum: logic === 'allow' ? 1 : 3 }))

describe.each(settings)(
  'rule 5: logins over three processes in mode $logic, maximum $maximum',
  ({ logic, maximum }) => {
    test('never hold more than the maximum', async () => {
      const hosts = await startProcesses(3, { settings: { maximum, logic } })
      const [first] = hosts as [(typeof hosts)[number]]
      let outcomes: readonly { status: number; browser: Browser; cart: unknown }[] = []
      const { highest } = await highestCount(first.limiter as Sessmgr, 2, async () => {
        outcomes = await inParallel(LOGINS, 60, async (index) => {
          const browser = hosts[index % 3]?.browser() as Browser
          await browser.post('/cart', { item: `tea ${index}` })
          const { status } = await browser.login('alice')
          return { status, browser, cart: status === 403 ? (await browser.get('/cart')).json() : [`tea ${index}`] }
        })
      })
      expect(highest).toBeLessThanOrEqual(maximum)
      const live = await Promise.all(outcomes.map(({ browser }) => browser.me()))
      expect(live.filter((status) => status === 200)).toHaveLength(await first.limiter.sessions.count(2))
      const admitted = outcomes.filter(({ status }) => status === 200).length
      const refused = outcomes.filter(({ status }) => status === 403).length
      expect({ admitted, refused }).toEqual(
        logic === 'block' ? { admitted: maximum, refused: LOGINS - maximum } : { admitted: LOGINS, refused: 0 },
      )
      expect(outcomes.map(({ cart }) => cart)).toEqual(outcomes.map((_, index) => [`tea ${index}`]))
    })
  },
)
