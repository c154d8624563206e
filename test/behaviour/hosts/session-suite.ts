import { describe, expect, test } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import type { Answer, Browser } from '../../support/browser.ts'
import type { HostUnderTest, StartHost } from '../../support/host-under-test.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { BLOCK, LOGIN_PATHS, OLDEST, suiteTools } from './suite-tools.ts'

/** How many logins come at once: a few of each way. */
const LOGINS = 20

/** What holds of sessions on every host. */
export function describeSessions(startHost: StartHost): void {
  const { start, startTwo, signedIn, userSessions } = suiteTools(startHost)

  describe.each(['before', 'after'] as const)('with sessmgr %s Passport', (order) => {
    const modes = order === 'before' ? (['allow', 'logout_oldest', 'block'] as const) : (['block'] as const)
    test.each(modes)('rule 5: parallel logins in mode %s', async (logic) => {
      const hosts = await startTwo({ maximum: 3, logic }, { order })
      const browsers = Array.from({ length: LOGINS }, (_, n) => (hosts[n % 2] as HostUnderTest).browser())
      const answers = await inParallel(LOGINS, LOGINS, (n) =>
        (browsers[n] as Browser).login('alice', {}, LOGIN_PATHS[n % LOGIN_PATHS.length] as string),
      )
      const accepted = answers.filter(({ status }) => status === 200).length
      expect(answers.filter(({ status }) => status === 403).length).toBe(LOGINS - accepted)
      expect(accepted).toBe(logic === 'block' ? 3 : LOGINS)

      const listed = (await hosts[0].limiter.sessions.list(2)).map(({ token }) => token)
      const ids = browsers.map((browser) => hosts[0].sessionIdOf(browser) ?? '')
      const visits = await Promise.all(browsers.map((browser) => browser.me()))
      const working = ids.filter((_, n) => visits[n] === 200)
      expect(working.map(tokenOf).toSorted()).toEqual(listed.toSorted())
      expect(userSessions(hosts[0]).toSorted()).toEqual(working.toSorted())
      if (logic === 'allow') expect([1, 2, 3]).toContain(working.length)
      else expect(working.length).toBe(3)
    })

    test('rule 16: a site-wide logout makes every session anonymous, once each, and a login after it is good', async () => {
      const host = await start({ maximum: 5, logic: 'block' }, { order })
      const browsers = await inParallel(3, 3, () => signedIn(host, 'alice'))
      const tokens = browsers.map((browser) => tokenOf(host.sessionIdOf(browser) ?? ''))
      await host.limiter.sessions.logoutAllUsers()
      const late = await signedIn(host, 'bob')

      const first = await (browsers[0] as Browser).get('/state')
      expect(first.json()).toMatchObject({ ended: { reason: 'logout_all' } })
      const visits = browsers.flatMap((browser) => Array.from({ length: 8 }, () => browser.copy().me()))
      expect(new Set(await Promise.all(visits))).toEqual(new Set([401]))
      const invalidated = host.actions.filter(([name]) => name === 'sessmgr_session_invalidated')
      expect(invalidated.map(([, user, token]) => [user, token]).toSorted()).toEqual(
        tokens.map((token) => [2, token]).toSorted(),
      )
      expect(userSessions(host)).toEqual([host.sessionIdOf(late)])
      expect(await late.me()).toBe(200)
      expect(await (await signedIn(host, 'alice')).me()).toBe(200)
    })

    describe('decision 71: the cookie of an ended session', () => {
      const script = { headers: { 'Sec-Fetch-Mode': 'cors' } }
      const page = { headers: { 'Sec-Fetch-Mode': 'navigate' } }
      const over = { ended: { reason: 'logout_all' } }
      const sessionCookies = ({ setCookies }: Answer) => setCookies.filter((cookie) => !cookie.includes('sessmgr_'))

      test('leaves its browser anonymous with the reason, request after request, pages and redirects alike', async () => {
        const host = await start({ maximum: 5, logic: 'block' }, { order })
        const browser = await signedIn(host, 'alice')
        await host.limiter.sessions.logoutAllUsers()
        for (const carried of [script, page, script, page]) {
          // What the framework itself may do with the cookie is left out: each request still brings it.
          expect((await browser.copy().get('/state', carried)).json()).toMatchObject(over)
          expect((await browser.copy().get('/moved', carried)).status).toBe(302)
          expect((await browser.copy().get('/me', carried)).status).toBe(401)
        }
        expect(userSessions(host)).toEqual([])
      })

      test('is treated by every answer as without sessmgr: it is neither set nor cleared', async () => {
        const sessions = new JsonSessions()
        const plain = await start(BLOCK, { sessions, unlimited: true })
        const host = await start({ maximum: 5, logic: 'block' }, { order })
        const [lost, ended] = [await signedIn(plain, 'alice'), await signedIn(host, 'alice')]
        sessions.sessions.clear()
        await host.limiter.sessions.endAll(2)
        for (const carried of [script, page]) {
          for (const path of ['/', '/me', '/moved', '/cart', '/nowhere']) {
            const [expected, answer] = [await lost.copy().get(path, carried), await ended.copy().get(path, carried)]
            expect([path, answer.status, sessionCookies(answer)]).toEqual([
              path,
              expected.status,
              sessionCookies(expected),
            ])
          }
        }
      })

      test('gives way to that of a login by a script', async () => {
        const host = await start({ maximum: 5, logic: 'block' }, { order })
        const browser = await signedIn(host, 'alice')
        await host.limiter.sessions.logoutAllUsers()
        await browser.get('/state', script)
        expect((await browser.login('alice', script.headers)).status).toBe(200)
        expect(await browser.me()).toBe(200)
      })
    })

    test('rule 13: a session from before the limit is adopted, and counts', async () => {
      const sessions = new JsonSessions()
      const before = await start(BLOCK, { sessions, unlimited: true })
      const veteran = await signedIn(before, 'alice')
      const host = await start(BLOCK, { order, sessions })
      const moved = veteran.copy(host.origin)
      const token = tokenOf(host.sessionIdOf(moved) ?? '')
      expect((await moved.get('/state')).json()).toEqual({ session: { userId: 2, token } })
      expect((await host.limiter.sessions.list(2)).map((session) => session.token)).toEqual([token])
      expect(sessions.read(host.sessionIdOf(moved))).toHaveProperty('sessmgr.token', token)
      expect((await host.browser().login('alice')).status).toBe(403)
      expect(await moved.me()).toBe(200)
    })

    test('rule 13: a session from before the limit is stale after a site-wide logout', async () => {
      const sessions = new JsonSessions()
      const before = await start(BLOCK, { sessions, unlimited: true })
      const veteran = await signedIn(before, 'alice')
      const host = await start(BLOCK, { order, sessions })
      await signedIn(host, 'bob')
      await host.limiter.sessions.logoutAllUsers()
      const moved = veteran.copy(host.origin)
      expect((await moved.get('/state')).json()).toMatchObject({ ended: { reason: 'logout_all' } })
      expect(await moved.me()).toBe(401)
      expect(userSessions(host).length).toBe(1)
    })

    test.each([
      ['/logout', 401],
      ['/direct-logout', 401],
      ['/destroy', 401],
    ])('rule 14: POST %s frees the slot at once', async (path, status) => {
      const host = await start(BLOCK, { order })
      const browser = await signedIn(host, 'alice', path === '/direct-logout' ? '/direct-login' : '/login')
      expect((await browser.post(path)).status).toBe(204)
      expect([await host.limiter.sessions.count(2), userSessions(host)]).toEqual([0, []])
      expect(await browser.me()).toBe(status)
      expect((await browser.get('/state')).json()).not.toHaveProperty('session')
      await signedIn(host, 'alice')
    })

    test('a session that exchanges its id keeps its slot', async () => {
      const host = await start(BLOCK, { order })
      const browser = await signedIn(host, 'alice')
      const old = host.sessionIdOf(browser)
      expect((await browser.post('/rotate')).status).toBe(204)
      expect(host.sessionIdOf(browser)).not.toBe(old)
      expect(await browser.me()).toBe(200)
      expect((await host.limiter.sessions.list(2)).map(({ token }) => token)).toEqual([
        tokenOf(host.sessionIdOf(browser) ?? ''),
      ])
      expect((await host.browser().login('alice')).status).toBe(403)
    })
  })

  describe('a slow request whose session ends meanwhile', () => {
    const ends = {
      'a login that displaces it': (host: HostUnderTest) => signedIn(host, 'alice'),
      'an administrator': (host: HostUnderTest) => host.limiter.sessions.endAll(2),
      'a logout in another tab': (_host: HostUnderTest, browser: Browser) => browser.copy().post('/logout'),
      'a site-wide logout': async (host: HostUnderTest, browser: Browser) => {
        await host.limiter.sessions.logoutAllUsers()
        expect(await browser.copy().me()).toBe(401)
      },
    }
    const trials = Object.keys(ends).flatMap((way) => ['early', 'late', 'save'].map((write) => [way, write] as const))

    test.each(trials)('by %s does not bring it back, writing %s', async (way, write) => {
      const host = await start(OLDEST)
      const browser = await signedIn(host, 'alice')
      const id = host.sessionIdOf(browser)
      const held = browser.copy().post(`/hold/gate?write=${write}`)
      await host.gates.at('gate').arrived
      await ends[way as keyof typeof ends](host, browser)
      host.gates.at('gate').open()
      expect((await held).status).toBe(204)
      expect(host.sessions.read(id)).toBeUndefined()
      expect(await browser.me()).toBe(401)
      expect(await host.limiter.sessions.count(2)).toBe(way === 'a login that displaces it' ? 1 : 0)
    })

    test.each(Object.keys(ends))('by %s does not carry its user over into another', async (way) => {
      const host = await start(OLDEST)
      const browser = await signedIn(host, 'alice')
      const slow = browser.copy()
      const held = slow.post('/rotate?gate=gate')
      await host.gates.at('gate').arrived
      await ends[way as keyof typeof ends](host, browser)
      const expected = userSessions(host)
      host.gates.at('gate').open()
      await held
      expect(userSessions(host)).toEqual(expected)
      expect(await slow.me()).toBe(401)
      expect(await host.limiter.sessions.count(2)).toBe(expected.length)
    })

    test('while it is being written does not bring it back', async () => {
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
  })
}
