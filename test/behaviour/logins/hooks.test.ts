import { describe, expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'

const MODES = ['allow', 'logout_oldest', 'block'] as const

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
    block: { status: 403, count: 0, actions: [['sessmgr_login_blocked', 2]] },
    allow: { status: 200, count: 1, actions: [['sessmgr_destroy_all_sessions', 2]] },
    logout_oldest: { status: 200, count: 1, actions: [] },
  }

  test.each(MODES)('"reached" without any session, in mode %s', async (logic) => {
    const host = await startExpressHost({ settings: { maximum: 5, logic } })
    host.limiter.hooks.addFilter('sessmgr_reached_limit', 'test', () => true)
    const browser = host.browser()
    const { status } = await browser.login('alice')
    expect({ status, count: await host.limiter.sessions.count(2), actions: host.actions }).toEqual(outcomes[logic])
    expect(await browser.me()).toBe(status === 200 ? 200 : 401)
  })

  test.each(MODES)('"not reached" admits over the limit, in mode %s', async (logic) => {
    const host = await startExpressHost({ settings: { maximum: 1, logic } })
    host.limiter.hooks.addFilter('sessmgr_reached_limit', 'test', () => false)
    const browsers = [await host.signedIn('alice'), await host.signedIn('alice'), await host.signedIn('alice')]
    expect(await Promise.all(browsers.map((browser) => browser.me()))).toEqual([200, 200, 200])
    expect(await host.limiter.sessions.count(2)).toBe(3)
    expect(host.actions).toEqual([])
  })
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

  test('leaves a visitor without a session without one', async () => {
    const host = await startExpressHost({ settings: { maximum: 1, logic: 'block' } })
    await host.signedIn('alice')
    const visitor = host.browser()
    await visitor.login('alice')
    expect(visitor.cookies.size).toBe(0)
    expect(host.store.everWritten.size).toBe(1)
  })

  test('leaves somebody who is signed in as another user signed in', async () => {
    const host = await startExpressHost({ settings: { maximum: 1, logic: 'block' } })
    await host.signedIn('alice')
    const bob = await host.signedIn('bob')
    expect((await bob.login('alice')).status).toBe(403)
    expect((await bob.get('/me')).json()).toEqual({ id: 3 })
    expect(await host.limiter.sessions.count(3)).toBe(1)
  })
})

describe('rule 12: hook subscribers that throw', () => {
  test('an action changes nothing, and the next subscriber runs', async () => {
    const host = await startExpressHost({ settings: { logic: 'allow' } })
    host.limiter.hooks.addAction(
      'sessmgr_destroy_all_sessions',
      'broken',
      () => {
        throw new Error('out of order')
      },
      1,
    )
    const laptop = await host.signedIn('alice')
    const phone = await host.signedIn('alice')
    expect([await laptop.me(), await phone.me()]).toEqual([401, 200])
    expect(host.actions).toEqual([['sessmgr_destroy_all_sessions', 2]])
    expect(host.logs).toHaveLength(1)
  })

  test('a filter fails the login closed', async () => {
    const host = await startExpressHost({ settings: { maximum: 5, logic: 'allow' } })
    host.limiter.hooks.addFilter('sessmgr_reached_limit', 'broken', () => {
      throw new Error('out of order')
    })
    const visitor = host.browser()
    expect((await visitor.login('alice')).status).toBe(500)
    expect(await visitor.me()).toBe(401)
    expect(host.store.ids()).toEqual([])
    expect(host.errors).toEqual([expect.objectContaining({ code: 'hook_failed' })])
  })
})
