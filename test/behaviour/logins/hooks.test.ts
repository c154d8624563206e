import { describe, expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'

describe('rule 9: sessmgr_bypass comes first', () => {
  test('with false and the user id, and when it says true the limit is not looked at', async () => {
    const host = await startExpressHost({ settings: { maximum: 1, logic: 'block' } })
    const asked: unknown[] = []
    host.limiter.hooks.addFilter('sessmgr_bypass', 'test', (...parameters) => {
      asked.push(parameters)
      return true
    })
    for (let login = 0; login < 3; login++) await host.signedIn('alice')
    expect(asked).toEqual(Array(3).fill([false, 2]))
    expect(host.limiter.hooks.didFilter('sessmgr_reached_limit')).toBe(0)
    expect(await host.limiter.sessions.count(2)).toBe(3)
    expect(host.actions).toEqual([])
  })

  test('sessions that came in by it count once it is gone', async () => {
    const host = await startExpressHost({ settings: { maximum: 3, logic: 'block' } })
    const remove = host.limiter.hooks.addFilter('sessmgr_bypass', 'test', (bypass, userId) => bypass || userId === 2)
    for (let login = 0; login < 3; login++) await host.signedIn('alice')
    expect((await host.browser().login('alice')).status).toBe(200)
    remove()
    expect((await host.browser().login('alice')).status).toBe(403)
  })

  test('without it sessmgr_reached_limit gets the verdict, the user id and the number of live sessions', async () => {
    const host = await startExpressHost({ settings: { maximum: 2, logic: 'logout_oldest' } })
    const asked: unknown[] = []
    host.limiter.hooks.addFilter('sessmgr_reached_limit', 'test', (...parameters) => {
      asked.push(parameters)
      return parameters[0]
    })
    for (let login = 0; login < 4; login++) await host.signedIn('alice')
    expect(asked).toEqual([
      [false, 2, 0],
      [false, 2, 1],
      [true, 2, 2],
      [true, 2, 2],
    ])
  })

  test('filters run by priority: the last word wins', async () => {
    const host = await startExpressHost({ settings: { maximum: 1, logic: 'block' } })
    const { hooks } = host.limiter
    hooks.addFilter('sessmgr_reached_limit', 'override', () => false, 20)
    hooks.addFilter('sessmgr_reached_limit', 'per-role', () => true, 10)
    for (let login = 0; login < 2; login++) expect((await host.browser().login('alice')).status).toBe(200)
    expect(await host.limiter.sessions.count(2)).toBe(2)
  })
})

describe('rule 10: a forced verdict', () => {
  const outcomes = {
    block: { status: 403, count: 0, actions: [['sessmgr_login_blocked', 3]] },
    allow: { status: 200, count: 1, actions: [['sessmgr_destroy_all_sessions', 3]] },
    logout_oldest: { status: 200, count: 1, actions: [] },
  }

  test.each(['block', 'allow', 'logout_oldest'] as const)(
    'decides, whatever the count is, in mode %s',
    async (logic) => {
      const host = await startExpressHost({ settings: { maximum: 1, logic } })
      const unlimited = host.limiter.hooks.addFilter('sessmgr_reached_limit', 'test', () => false)
      const browsers = [await host.signedIn('alice'), await host.signedIn('alice')]
      expect(await Promise.all(browsers.map((browser) => browser.me()))).toEqual([200, 200])
      expect([await host.limiter.sessions.count(2), host.actions]).toEqual([2, []])
      unlimited()
      await host.limiter.settings.update({ maximum: 5 })
      host.limiter.hooks.addFilter('sessmgr_reached_limit', 'test', () => true)
      const browser = host.browser()
      const { status } = await browser.login('bob')
      const seen = { status, count: await host.limiter.sessions.count(3), actions: host.actions }
      expect(seen).toEqual(outcomes[logic])
      expect(await browser.me()).toBe(status === 200 ? 200 : 401)
    },
  )
})

describe('rule 11: a blocked login', () => {
  test('makes no session and leaves the visitor what they have; then the action fires', async () => {
    const host = await startExpressHost({ settings: { maximum: 1, logic: 'block' } })
    await host.signedIn('alice')
    const visitor = host.browser()
    await visitor.post('/cart', { item: 'tea' })
    const stored = structuredClone(host.store.sessions)
    const seenByAction: unknown[] = []
    host.limiter.hooks.addAction('sessmgr_login_blocked', 'test', (userId) => {
      seenByAction.push(userId, structuredClone(host.store.sessions))
    })
    const answer = await visitor.login('alice')
    expect(answer.status).toBe(403)
    expect(answer.setCookies).toEqual([])
    expect(seenByAction).toEqual([2, stored])
    expect((await visitor.get('/cart')).json()).toEqual(['tea'])
    expect(Object.keys(host.store.sessions)).toEqual(Object.keys(stored))
  })
})
