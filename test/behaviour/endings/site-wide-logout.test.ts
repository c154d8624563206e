import { describe, expect, test, vi } from 'vitest'
import { memoryStore, tokenOf } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startProcesses } from '../../support/start-processes.ts'

describe('rule 13: activation logs nobody out', () => {
  test('sessions from before are adopted on their next request, one over the limit too', async () => {
    const old = await startExpressHost({ unlimited: true })
    const browsers = [await old.signedIn('alice'), await old.signedIn('alice')]
    const host = await startExpressHost({ store: old.store.twin(), settings: { maximum: 1, logic: 'block' } })
    expect(await host.limiter.sessions.count(2)).toBe(0)

    for (const [index, browser] of browsers.entries()) {
      expect(await browser.copy(host.origin).me()).toBe(200)
      expect(await host.limiter.sessions.count(2)).toBe(index + 1)
    }
    const tokens = browsers.map((browser) => tokenOf(browser.sessionId() ?? ''))
    expect((await host.limiter.sessions.list(2)).map(({ token }) => token)).toEqual(tokens)
    expect(host.store.read(browsers[0]?.sessionId())).toMatchObject({ sessmgr: { userId: 2, token: tokens[0] } })
    expect((await host.browser().login('alice')).status).toBe(403)
    expect(host.actions).toEqual([['sessmgr_login_blocked', 2]])
  })

  test.each(['plain', 'limiter'] as const)(
    'nor does a restart with a registry that remembers nothing, after logins by %s',
    async (way) => {
      const old = await startExpressHost({ way })
      const laptop = await old.signedIn('alice')
      const sessionUser = way === 'limiter' ? (data: Record<string, unknown>) => data.userId as number : undefined
      const settings = { maximum: 1, logic: 'block' }
      const host = await startExpressHost({ way, store: old.store.twin(), sessmgr: { settings, sessionUser } })
      await host.browser().get('/')
      expect(await laptop.copy(host.origin).me()).toBe(200)
      expect(await host.limiter.sessions.count(2)).toBe(1)
      expect((await host.browser().login('alice')).status).toBe(403)
      await host.limiter.sessions.endAll(2)
      expect(await laptop.copy(host.origin).me()).toBe(401)
    },
  )
})

describe('rule 14: a session that anybody ends frees its slot at once', () => {
  test('by whatever call, in every process', async () => {
    const [here, there] = await startProcesses(2, { settings: { maximum: 1, logic: 'block' } })
    if (!here || !there) throw new Error('two processes are needed')
    for (const path of ['/logout', '/destroy', '/regenerate']) {
      const laptop = await here.signedIn('alice')
      expect((await there.browser().login('alice')).status, path).toBe(403)
      await laptop.copy(there.origin).post(path)
      expect([path, await laptop.me(), await here.limiter.sessions.count(2)]).toEqual([path, 401, 0])
    }
  })
})

describe('rule 15: the logout epoch', () => {
  test('is told in Unix seconds', async () => {
    const clock = fakeClock(1_700_000_000_999)
    const host = await startExpressHost({ sessmgr: { store: memoryStore({ clock }) } })
    expect(await host.limiter.sessions.logoutAllUsers()).toBe(1_700_000_000)
    expect(host.actions).toEqual([['sessmgr_logout_all_users', 1_700_000_000]])
  })

  test('tells before from after at every call, however the clock has moved in between', async () => {
    const clock = fakeClock()
    const host = await startExpressHost({ settings: { maximum: 5 }, sessmgr: { store: memoryStore({ clock }) } })
    for (const jump of [0, 0, -60 * 60_000, 60 * 60_000]) {
      const before = await host.signedIn('alice')
      clock.advance(jump)
      await host.limiter.sessions.logoutAllUsers()
      clock.advance(jump)
      const after = await host.signedIn('alice')
      expect([jump, await before.me(), await after.me()]).toEqual([jump, 401, 200])
      expect(await host.limiter.sessions.count(2), `${jump}`).toBe(1)
    }
  })
})

describe('rule 16: the next request of a stale session', () => {
  test('decision 71: destroys it, leaves its cookie, goes on as anonymous, and tells once with the hashed token', async () => {
    const host = await startExpressHost()
    const laptop = await host.signedIn('alice')
    const id = laptop.sessionId() ?? ''
    await host.limiter.sessions.logoutAllUsers()
    expect(host.store.read(id)).toBeDefined()
    expect(host.actions.splice(0)).toHaveLength(1)

    const page = await laptop.get('/')
    expect([page.status, page.text]).toEqual([200, 'public page'])
    expect(page.setCookies).toEqual([expect.stringMatching(`^sessmgr_notice=${tokenOf(id)};`)])
    expect(laptop.sessionId()).toBe(id)
    expect(host.store.read(id)).toBeUndefined()
    const own = await laptop.get('/me')
    expect([own.status, own.setCookies]).toEqual([401, []])
    expect(host.store.ids()).toEqual([])
    expect(host.actions).toEqual([['sessmgr_session_invalidated', 2, tokenOf(id)]])
  })

  test('tells exactly once for each session, however many requests race for it over three processes', async () => {
    const hosts = await startProcesses(3, { settings: { maximum: 5 } })
    const [host] = hosts as [(typeof hosts)[number]]
    const browsers = [await host.signedIn('alice'), await host.signedIn('alice'), await host.signedIn('bob')]
    await Promise.all(hosts.map(({ origin }) => host.browser().copy(origin).get('/')))
    await host.limiter.sessions.logoutAllUsers()

    const requests = browsers.flatMap((browser) => {
      return hosts.flatMap(({ origin }) => Array.from({ length: 4 }, () => browser.copy(origin).me()))
    })
    expect(await Promise.all(requests)).toEqual(Array(36).fill(401))
    const told = hosts.flatMap(({ actions }) => actions).filter(([name]) => name === 'sessmgr_session_invalidated')
    expect(told.map(([, userId, token]) => `${userId} ${token}`).toSorted()).toEqual(
      browsers.map((browser, index) => `${index === 2 ? 3 : 2} ${tokenOf(browser.sessionId() ?? '')}`).toSorted(),
    )
  })
})

test('rule 17: a site-wide logout looks at no session and no user', async () => {
  const store = memoryStore()
  const host = await startExpressHost({ settings: { maximum: 50 }, sessmgr: { store } })
  for (let user = 0; user < 5; user++) await host.signedIn(`user${user}`)
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(store.sessions)).filter(
    (name) => name !== 'constructor',
  )
  expect(methods.length).toBeGreaterThanOrEqual(5)
  const spies = methods.map((name) => vi.spyOn(store.sessions, name as 'commit'))
  const writes = host.store.everWritten.size
  await host.limiter.sessions.logoutAllUsers()
  expect(spies.map((spy) => spy.mock.calls)).toEqual(spies.map(() => []))
  expect(host.store.everWritten.size).toBe(writes)
  expect(host.store.ids()).toHaveLength(5)
  expect(host.actions.map(([name]) => name)).toEqual(['sessmgr_logout_all_users'])
})
