import { expect, test } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import type { Answer, Browser } from '../../support/browser.ts'
import type { HostUnderTest, StartHost } from '../../support/host-under-test.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { BLOCK, LOGIN_PATHS, OLDEST, suiteTools } from './suite-tools.ts'

/** How many logins come at once: a few of each way. */
const LOGINS = 20

const SCRIPT = { headers: { 'Sec-Fetch-Mode': 'cors' } }
const PAGE = { headers: { 'Sec-Fetch-Mode': 'navigate' } }
const LOGOUTS = ['/logout', '/direct-logout', '/destroy']

/** What holds of the life of a session on every host, also where the application calls sessmgr itself. */
export function describeLives(startHost: StartHost, logins: readonly string[] = LOGIN_PATHS, logouts = LOGOUTS): void {
  // Where sessmgr stands matters to Passport alone.
  const orders = logouts === LOGOUTS ? (['before', 'after'] as const) : (['before'] as const)
  const { start, startTwo, signedIn, userSessions } = suiteTools(startHost)

  const places = [['before', 'logout_oldest'] as const, ...orders.map((order) => [order, 'block'] as const)]
  test.each(places)('rule 5: parallel logins, with sessmgr %s Passport, in mode %s', async (order, logic) => {
    const hosts = await startTwo({ maximum: 3, logic }, { order })
    const browsers = Array.from({ length: LOGINS }, (_, n) => (hosts[n % 2] as HostUnderTest).browser())
    const answers = await inParallel(LOGINS, LOGINS, (n) =>
      (browsers[n] as Browser).login('alice', {}, logins[n % logins.length] as string),
    )
    const accepted = answers.filter(({ status }) => status === 200).length
    expect(answers.filter(({ status }) => status === 403).length).toBe(LOGINS - accepted)
    expect(accepted).toBe(logic === 'block' ? 3 : LOGINS)

    const listed = (await hosts[0].limiter.sessions.list(2)).map(({ token }) => token)
    const ids = browsers.map((browser) => hosts[0].sessionIdOf(browser) ?? '')
    const visits = await Promise.all(browsers.map((browser) => browser.me()))
    const working = ids.filter((_, n) => visits[n] === 200)
    expect(working.length).toBe(3)
    expect(working.map(tokenOf).toSorted()).toEqual(listed.toSorted())
    expect(userSessions(hosts[0]).toSorted()).toEqual(working.toSorted())
  })

  test('rule 16: a site-wide logout makes every session anonymous, once each, and a login after it is good', async () => {
    const host = await start({ maximum: 5, logic: 'block' })
    const browsers = await inParallel(3, 3, () => signedIn(host, 'alice'))
    const tokens = browsers.map((browser) => tokenOf(host.sessionIdOf(browser) ?? ''))
    await host.limiter.sessions.logoutAllUsers()
    const late = await signedIn(host, 'bob')

    const first = await (browsers[0] as Browser).copy().get('/state')
    expect(first.json()).toMatchObject({ ended: { reason: 'logout_all' } })
    const visits = browsers.flatMap((browser) => Array.from({ length: 8 }, () => browser.copy().me()))
    expect(new Set(await Promise.all(visits))).toEqual(new Set([401]))
    const invalidated = host.actions.filter(([name]) => name === 'sessmgr_session_invalidated')
    expect(invalidated.map(([, user, token]) => [user, token]).toSorted()).toEqual(
      tokens.map((token) => [2, token]).toSorted(),
    )
    expect([await late.me(), userSessions(host)]).toEqual([200, [host.sessionIdOf(late)]])
    expect((await browsers[0]?.login('alice', SCRIPT.headers))?.status).toBe(200)
    expect(await browsers[0]?.me()).toBe(200)
  })

  test.each(orders)('rule 14: a logout frees the slot at once, with sessmgr %s Passport', async (order) => {
    const host = await start(BLOCK, { order })
    for (const path of logouts) {
      const browser = await signedIn(host, 'alice', path === '/direct-logout' ? '/direct-login' : '/login')
      expect((await browser.post(path)).status, path).toBe(204)
      expect([await host.limiter.sessions.count(2), userSessions(host)], path).toEqual([0, []])
      expect(await browser.me(), path).toBe(401)
      expect((await browser.get('/state')).json(), path).not.toHaveProperty('session')
    }
  })
}

/** What ends a session while a request of it is under way, and how many its user has after that. */
const ENDS: [way: string, left: number, end: (host: HostUnderTest, browser: Browser) => Promise<unknown>][] = [
  ['a login that displaces it', 1, (host) => host.browser().login('alice')],
  ['an administrator', 0, (host) => host.limiter.sessions.endAll(2)],
  ['a logout in another tab', 0, (_host, browser) => browser.copy().post('/logout')],
  [
    'a site-wide logout',
    0,
    async (host, browser) => {
      await host.limiter.sessions.logoutAllUsers()
      expect(await browser.copy().me()).toBe(401)
    },
  ],
]

/** What holds of sessions that the framework reads and writes. */
export function describeSessions(startHost: StartHost): void {
  const { start, signedIn, userSessions } = suiteTools(startHost)
  const sessionCookies = ({ setCookies }: Answer) => setCookies.filter((cookie) => !cookie.includes('sessmgr_'))

  test('decision 71: a dead cookie leaves its browser anonymous with the reason, pages and redirects alike', async () => {
    const host = await start({ maximum: 5, logic: 'block' })
    const browser = await signedIn(host, 'alice')
    await host.limiter.sessions.logoutAllUsers()
    for (const carried of [SCRIPT, PAGE, SCRIPT, PAGE]) {
      // What the framework itself may do with the cookie is left out: each request still brings it.
      const over = { ended: { reason: 'logout_all' } }
      expect((await browser.copy().get('/state', carried)).json()).toMatchObject(over)
      expect((await browser.copy().get('/moved', carried)).status).toBe(302)
      expect((await browser.copy().get('/me', carried)).status).toBe(401)
    }
    expect(userSessions(host)).toEqual([])
  })

  test('decision 71: every answer to a dead cookie is as without sessmgr: it is neither set nor cleared', async () => {
    const sessions = new JsonSessions()
    const plain = await start(BLOCK, { sessions, unlimited: true })
    const host = await start({ maximum: 5, logic: 'block' })
    const [lost, ended] = [await signedIn(plain, 'alice'), await signedIn(host, 'alice')]
    sessions.sessions.clear()
    await host.limiter.sessions.endAll(2)
    for (const carried of [SCRIPT, PAGE]) {
      for (const path of ['/', '/me', '/moved', '/cart', '/nowhere']) {
        const [expected, answer] = [await lost.copy().get(path, carried), await ended.copy().get(path, carried)]
        expect([answer.status, sessionCookies(answer)], path).toEqual([expected.status, sessionCookies(expected)])
      }
    }
  })

  test.each(['before', 'after'] as const)(
    'rule 13: a session from before the limit is adopted, counts, and keeps its slot under another id, with sessmgr %s Passport',
    async (order) => {
      const sessions = new JsonSessions()
      const veteran = await signedIn(await start(BLOCK, { sessions, unlimited: true }), 'alice')
      const host = await start(BLOCK, { order, sessions })
      const moved = veteran.copy(host.origin)
      const tokenHere = () => tokenOf(host.sessionIdOf(moved) ?? '')
      const old = tokenHere()
      expect((await moved.get('/state')).json()).toEqual({ session: { userId: 2, token: old } })
      expect(sessions.read(host.sessionIdOf(moved))).toHaveProperty('sessmgr.token', old)
      expect((await moved.post('/rotate')).status).toBe(204)
      expect(tokenHere()).not.toBe(old)
      expect(await moved.me()).toBe(200)
      expect((await host.limiter.sessions.list(2)).map(({ token }) => token)).toEqual([tokenHere()])
      expect((await host.browser().login('alice')).status).toBe(403)
    },
  )

  test('rule 13: a session from before the limit is stale after a site-wide logout', async () => {
    const sessions = new JsonSessions()
    const veteran = await signedIn(await start(BLOCK, { sessions, unlimited: true }), 'alice')
    const host = await start(BLOCK, { order: 'after', sessions })
    await signedIn(host, 'bob')
    await host.limiter.sessions.logoutAllUsers()
    const moved = veteran.copy(host.origin)
    expect((await moved.get('/state')).json()).toMatchObject({ ended: { reason: 'logout_all' } })
    expect([await moved.me(), userSessions(host).length]).toEqual([401, 1])
  })

  test.each(ENDS)('a slow request does not bring back a session that has ended by %s', async (_way, left, end) => {
    const host = await start(OLDEST)
    const gates = ['/hold/early?write=early', '/hold/late?write=late', '/hold/save?write=save', '/rotate?gate=rotate']
    for (const path of gates) {
      const browser = await signedIn(host, 'alice')
      const id = host.sessionIdOf(browser)
      const slow = browser.copy()
      const held = slow.post(path)
      const gate = host.gates.at(path.split('=').at(-1) ?? '')
      await gate.arrived
      await end(host, browser)
      const expected = userSessions(host)
      gate.open()
      const { status } = await held
      if (!path.startsWith('/rotate')) expect(status, path).toBe(204)
      expect([host.sessions.read(id), userSessions(host)], path).toEqual([undefined, expected])
      expect([await browser.me(), await slow.me()], path).toEqual([401, 401])
      expect([await host.limiter.sessions.count(2), expected.length], path).toEqual([left, left])
    }
  })

  test('a slow request does not bring back a session that ends while it is being written', async () => {
    const host = await start(OLDEST)
    const browser = await signedIn(host, 'alice')
    const id = host.sessionIdOf(browser)
    const write = host.sessions.holdNextWrite()
    const posting = browser.copy().post('/cart', { item: 'tea' })
    await write.arrived
    await host.limiter.sessions.endAll(2)
    write.open()
    await posting
    expect(host.sessions.read(id)).toBeUndefined()
    expect(await browser.me()).toBe(401)
  })
}
