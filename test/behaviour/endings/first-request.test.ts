import { describe, expect, test } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { type ExpressHost, type ExpressSetup, startExpressHost } from '../../support/express-host.ts'

const ORDERS = ['before', 'after'] as const
const MANY = 8

/** The same application in a new process: what it keeps outlives it. No request has reached it yet. */
async function restart(host: ExpressHost, options: ExpressSetup): Promise<ExpressHost> {
  const store = host.store.twin()
  // Slow enough for many requests to have their sessions read before the first of them is judged.
  store.readTurns = 5
  return startExpressHost({ ...options, store })
}

describe.each(ORDERS)('the first requests of a process, sessmgr %s passport.session()', (order) => {
  test('rule 13: adopt sessions from before the limit', async () => {
    const old = await startExpressHost({ unlimited: true })
    const laptop = await old.signedIn('alice')
    const host = await restart(old, { order })
    const browsers = Array.from({ length: MANY }, () => laptop.copy(host.origin))
    const states = await Promise.all(browsers.map((browser) => browser.get('/state')))
    for (const state of states) expect(state.json()).toMatchObject({ session: { userId: 2 } })
    expect(await host.limiter.sessions.count(2)).toBe(1)
    expect(await laptop.copy(host.origin).me()).toBe(200)
  })

  test('rule 16: end every stale session, and tell once', async () => {
    const store = memoryStore()
    const old = await startExpressHost({ sessmgr: { store } })
    const laptop = await old.signedIn('alice')
    const host = await restart(old, { order, sessmgr: { store } })
    await host.limiter.sessions.logoutAllUsers()

    const browsers = Array.from({ length: MANY }, () => laptop.copy(host.origin))
    const answers = await Promise.all(browsers.map((browser) => browser.get('/me')))
    expect(answers.map(({ status }) => status)).toEqual(Array(MANY).fill(401))
    expect(host.actions.map(([name]) => name)).toEqual(['sessmgr_logout_all_users', 'sessmgr_session_invalidated'])
    expect(host.store.read(laptop.sessionId())).toBeUndefined()
  })

  test.each(['ended', 'logout_all'] as const)(
    'refuse a session that the store could not delete: %s',
    async (reason) => {
      const store = memoryStore()
      const old = await startExpressHost({ sessmgr: { store } })
      const laptop = await old.signedIn('alice')
      old.store.undeletable.add(laptop.sessionId())
      if (reason === 'ended') await old.limiter.sessions.endAll(2)
      else await old.limiter.sessions.logoutAllUsers()
      const host = await restart(old, { order, sessmgr: { store } })

      const browser = laptop.copy(host.origin)
      const answer = await browser.get('/state')
      expect(answer.json()).toMatchObject({ ended: { reason } })
      const names = answer.setCookies.map((cookie) => cookie.split('=')[0])
      expect(names.toSorted()).toEqual(['connect.sid', 'sessmgr_notice'])
      expect(browser.sessionId()).not.toBe(laptop.sessionId())
      expect(await browser.me()).toBe(401)
      expect(host.store.read(laptop.sessionId())).toBeUndefined()
    },
  )

  test('may be logins: each of them counts', async () => {
    const old = await startExpressHost({ unlimited: true })
    const host = await restart(old, { order, settings: { maximum: 2, logic: 'block' } })
    const browsers = Array.from({ length: MANY }, () => host.browser())
    const answers = await Promise.all(browsers.map((browser) => browser.login('alice')))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(MANY - 2)
    expect(await host.limiter.sessions.count(2)).toBe(2)
  })

  test('may be a login over a session from before the limit, which it replaces', async () => {
    const old = await startExpressHost({ unlimited: true })
    const laptop = await old.signedIn('alice')
    const host = await restart(old, { order, settings: { maximum: 1, logic: 'block' } })
    const browser = laptop.copy(host.origin)
    expect((await browser.login('alice')).status).toBe(200)
    expect(await browser.me()).toBe(200)
    expect(await host.limiter.sessions.count(2)).toBe(1)
    expect(host.store.ids()).toEqual([browser.sessionId()])
  })
})

test('a session store that is named at the start is guarded before the first request', async () => {
  const old = await startExpressHost({ unlimited: true })
  const laptop = await old.signedIn('alice')
  const store = old.store.twin()
  const host = await startExpressHost({ store, sessmgr: { sessionStore: store } })
  const browser = laptop.copy(host.origin)
  await host.limiter.sessions.logoutAllUsers()
  const answer = await browser.get('/state')
  expect(answer.json()).toMatchObject({ ended: { reason: 'logout_all' } })
  // Decision 71: the session's cookie stays as it is.
  expect(answer.setCookies).toEqual([expect.stringMatching(/^sessmgr_notice=[\da-f]{64};/)])
  expect(browser.sessionId()).toBe(laptop.sessionId())
  expect(await browser.me()).toBe(401)
  expect(store.read(laptop.sessionId())).toBeUndefined()
})
