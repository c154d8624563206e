import { describe, expect, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { rounds } from '../../support/rounds.ts'
import { startProcesses } from '../../support/start-processes.ts'
import { AGENTS } from '../../support/user-agents.ts'
import { highestWhile } from '../../support/watch-count.ts'

const LOGINS = rounds(24)
const meOf = (browsers: readonly Browser[]) => Promise.all(browsers.map((browser) => browser.me()))

describe('rule 1: the default settings', () => {
  test('are one session and mode allow', async () => {
    expect(await sessmgr().settings.get()).toEqual({
      maximum: 1,
      logic: 'allow',
      idle_release: 0,
      max_age: 0,
      enforce: true,
    })
    const host = await startExpressHost()
    expect(await meOf([await host.signedIn('alice'), await host.signedIn('alice')])).toEqual([401, 200])
  })

  test('give way to any maximum up to the largest safe integer', async () => {
    const host = await startExpressHost({ settings: { maximum: Number.MAX_SAFE_INTEGER, logic: 'block' } })
    for (let login = 0; login < 3; login++) await host.signedIn('alice')
    expect(await host.limiter.sessions.count(2)).toBe(3)
    const settings = await host.limiter.settings.update({ maximum: Number.MAX_SAFE_INTEGER })
    expect(settings.maximum).toBe(9_007_199_254_740_991)
  })

  test('hold from the next login on when they are changed', async () => {
    const host = await startExpressHost({ settings: { maximum: 3, logic: 'block' } })
    const browsers = [await host.signedIn('alice'), await host.signedIn('alice')]
    await host.limiter.settings.update({ maximum: 2 })
    expect((await host.browser().login('alice')).status).toBe(403)
    await host.limiter.settings.update({ logic: 'allow' })
    expect(await meOf(browsers)).toEqual([200, 200])
    await host.signedIn('alice')
    expect(await meOf(browsers)).toEqual([401, 401])
  })
})

test('rule 2: a wrong password disturbs nothing and does not tell that the account is in use', async () => {
  const host = await startExpressHost()
  const laptop = await host.signedIn('alice')
  for (const username of ['alice', 'bob']) {
    const { status, text } = await host.browser().post('/login', { username, password: 'wrong' })
    expect([username, status, text]).toEqual([username, 401, 'Unauthorized'])
  }
  expect([await laptop.me(), host.actions]).toEqual([200, []])
  expect(host.limiter.hooks.didFilter('sessmgr_bypass')).toBe(1)
})

describe('rule 4: mode logout_oldest', () => {
  test.each([
    [4, [401, 401, 200, 200, 200, 200], 2],
    [1, [401, 401, 401, 401, 401, 200], 5],
  ])('with the maximum lowered from 5 to %i ends as many of the oldest as it takes', async (maximum, states, ended) => {
    const host = await startExpressHost({ settings: { maximum: 5, logic: 'logout_oldest' } })
    const browsers: Browser[] = []
    for (let login = 0; login < 5; login++) browsers.push(await host.signedIn('alice'))
    await host.limiter.settings.update({ maximum })
    browsers.push(await host.signedIn('alice'))
    expect(await meOf(browsers)).toEqual(states)
    expect(host.actions).toEqual(Array(ended).fill(['sessmgr_destroy_oldest_session', 2]))
  })

  test('ends at least one when a filter says that the limit is reached', async () => {
    const host = await startExpressHost({ settings: { maximum: 5, logic: 'logout_oldest' } })
    const old = [await host.signedIn('alice'), await host.signedIn('alice')]
    host.limiter.hooks.addFilter('sessmgr_reached_limit', 'test', () => true)
    expect(await meOf([...old, await host.signedIn('alice')])).toEqual([401, 200, 200])
    expect(host.actions).toEqual([['sessmgr_destroy_oldest_session', 2]])
  })
})

test('one computer and one phone stay signed in, and another phone ends only the phone', async () => {
  const settings = { maximum: 3, logic: 'logout_oldest' }
  const host = await startExpressHost({ sessmgr: { settings, limits: { desktop: 1, mobile: 1 } } })
  const signIn = async (agent: string) => {
    const browser = host.browser()
    await browser.login('alice', { 'user-agent': agent })
    return browser
  }
  const first = [await signIn(AGENTS.windows), await signIn(AGENTS.iphone), await signIn('curl/8.5.0')]
  expect(await meOf(first)).toEqual([200, 200, 200])
  const next = { nextLogin: 'ends', label: 'mobile' }
  expect(await host.limiter.explain(2, { userAgent: AGENTS.iphone })).toMatchObject(next)
  expect(await meOf([...first, await signIn(AGENTS.iphone)])).toEqual([200, 401, 200, 200])
})

test.each([
  { logic: 'allow', maximum: 1 },
  { logic: 'logout_oldest', maximum: 3 },
  { logic: 'block', maximum: 3 },
])('rule 5: logins over three processes in mode $logic never hold more than $maximum', async ({ logic, maximum }) => {
  const hosts = await startProcesses(3, { settings: { maximum, logic } })
  const [first] = hosts as [(typeof hosts)[number]]
  const logins = () =>
    inParallel(LOGINS, 60, async (index) => {
      const browser = hosts[index % 3]?.browser() as Browser
      await browser.post('/cart', { item: `tea ${index}` })
      const { status } = await browser.login('alice')
      return { status, browser, cart: status === 403 ? (await browser.get('/cart')).json() : [`tea ${index}`] }
    })
  const { result: outcomes, highest, samples } = await highestWhile(() => first.limiter.sessions.count(2), logins)
  expect(samples).toBeGreaterThan(0)
  expect(highest).toBeLessThanOrEqual(maximum)
  const live = (await meOf(outcomes.map(({ browser }) => browser))).filter((status) => status === 200)
  expect(live).toHaveLength(await first.limiter.sessions.count(2))
  const admitted = outcomes.filter(({ status }) => status === 200).length
  const refused = outcomes.filter(({ status }) => status === 403).length
  expect({ admitted, refused }).toEqual(
    logic === 'block' ? { admitted: maximum, refused: LOGINS - maximum } : { admitted: LOGINS, refused: 0 },
  )
  expect(outcomes.map(({ cart }) => cart)).toEqual(outcomes.map((_, index) => [`tea ${index}`]))
})
