import { describe, expect, test } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import type { HostUnderTest, StartHost } from '../../support/host-under-test.ts'
import { loseRace } from '../../support/lose-race.ts'
import { BLOCK, OLDEST, suiteTools } from './suite-tools.ts'

/** What holds of every way to log in, on every host. */
export function describeLogins(startHost: StartHost): void {
  const { start, startTwo, signedIn, userSessions } = suiteTools(startHost)

  describe.each(['before', 'after'] as const)('with sessmgr %s Passport', (order) => {
    // By Passport and past it. Where sessmgr stands matters to Passport alone; parallel logins use every other way.
    describe.each(order === 'before' ? ['/login', '/direct-login'] : ['/login'])('a login by %s', (path) => {
      test('is told of as a session of its user, and goes on being one', async () => {
        const host = await start({ maximum: 2, logic: 'block' }, { order })
        const browser = await signedIn(host, 'alice', path)
        const token = tokenOf(host.sessionIdOf(browser) ?? '')
        expect((await browser.get('/state')).json()).toEqual({ session: { userId: 2, token } })
        expect((await host.limiter.sessions.list(2)).map((session) => session.token)).toEqual([token])
        expect(userSessions(host)).toEqual([host.sessionIdOf(browser)])
      })

      test('by logout_oldest ends the oldest session, whose dead cookie leaves its browser anonymous', async () => {
        const host = await start(OLDEST, { order })
        const old = await signedIn(host, 'alice', path)
        const young = await signedIn(host, 'alice', path)
        expect(userSessions(host)).toEqual([host.sessionIdOf(young)])
        for (let turn = 0; turn < 2; turn++) {
          const dead = old.copy()
          const ended = { reason: 'missing', cause: { kind: 'displaced' } }
          expect((await dead.get('/state')).json()).toMatchObject({ ended })
          expect(await old.copy().me()).toBe(401)
        }
        expect([await young.me(), userSessions(host)]).toEqual([200, [host.sessionIdOf(young)]])
        expect(host.actions.map(([name]) => name)).toEqual(['sessmgr_destroy_oldest_session'])
      })

      test('rule 11: that is blocked leaves the anonymous session as it was', async () => {
        const host = await start(BLOCK, { order })
        const first = await signedIn(host, 'alice', path)
        const visitor = host.browser()
        await visitor.post('/cart', { item: 'tea' })
        const id = host.sessionIdOf(visitor)
        const before = host.sessions.sessions.get(id ?? '')
        expect((await visitor.login('alice', {}, path)).status).toBe(403)
        expect([host.sessionIdOf(visitor), await visitor.me()]).toEqual([id, 401])
        expect((await visitor.get('/cart')).json()).toEqual(['tea'])
        expect(Object.keys(host.sessions.read(id) ?? {})).toEqual(Object.keys(JSON.parse(before ?? '{}')))
        expect(await first.me()).toBe(200)
        expect(host.actions).toEqual([['sessmgr_login_blocked', 2]])
        expect(host.sessions.ids().length).toBe(2)
      })

      /** Lets a visitor's login lose its slot to another process at the last moment. */
      async function loseSlot(prepare: (visitor: Browser, here: HostUnderTest) => Promise<unknown>) {
        const [here, there] = await startTwo(BLOCK, { order })
        const visitor = here.browser()
        await prepare(visitor, here)
        const id = here.sessionIdOf(visitor)
        const [{ status }, winner] = await loseRace(
          here,
          () => visitor.login('alice', {}, path),
          () => signedIn(there, 'alice', path),
        )
        expect(status).toBe(403)
        expect(here.sessionIdOf(visitor)).toBe(id)
        expect(here.sessions.ids().toSorted()).toEqual([id, here.sessionIdOf(winner)].filter(Boolean).toSorted())
        expect([await winner.me(), await here.limiter.sessions.count(2)]).toEqual([200, 1])
        expect(here.actions).toEqual([['sessmgr_login_blocked', 2]])
        return { here, visitor }
      }

      test('rule 11: that loses a race leaves the anonymous session as it was', async () => {
        const { visitor } = await loseSlot((browser) => browser.post('/cart', { item: 'tea' }))
        expect((await visitor.get('/cart')).json()).toEqual(['tea'])
        expect(await visitor.me()).toBe(401)
      })

      test('rule 11: that loses a race leaves a visitor without a session without one', async () => {
        const { visitor } = await loseSlot(async () => {})
        expect(visitor.cookies.size).toBe(0)
      })

      test('rule 11: that loses a race leaves who is signed in as somebody else signed in', async () => {
        const { here, visitor } = await loseSlot((browser) => browser.login('bob'))
        expect((await visitor.get('/me')).json()).toEqual({ id: 3 })
        expect(await here.limiter.sessions.count(3)).toBe(1)
      })

      test('rule 7: that is long in writing its session does not free the slot of the one it replaces', async () => {
        const [here, there] = await startTwo(BLOCK, { order })
        const browser = await signedIn(here, 'alice', path)
        const write = here.sessions.holdNextWrite()
        const renewing = browser.login('alice', {}, path)
        await write.arrived
        expect((await there.browser().login('alice', {}, path)).status).toBe(403)
        expect(await browser.copy().me()).toBe(200)
        write.open()
        expect((await renewing).status).toBe(200)
        expect(await browser.me()).toBe(200)
        expect(userSessions(here)).toEqual([here.sessionIdOf(browser)])
      })

      test('rule 6: counts before its answer is out', async () => {
        const [here, there] = await startTwo(BLOCK, { order })
        const browser = here.browser()
        const answering = browser.login('alice', {}, `${path}?gate=answer`)
        await here.gates.at('answer').arrived
        // Without a pair it would pass for a session from before sessmgr, if the answer never came.
        const stored = here.sessions.ids().map((id) => here.sessions.read(id))
        expect(stored).toEqual([expect.objectContaining({ sessmgr: expect.objectContaining({ userId: 2 }) })])
        expect((await there.browser().login('alice', {}, path)).status).toBe(403)
        here.gates.at('answer').open()
        expect((await answering).status).toBe(200)
        expect(await browser.me()).toBe(200)
      })

      test('rule 7: in a browser that is signed in already replaces its session', async () => {
        const host = await start(BLOCK, { order })
        const browser = await signedIn(host, 'alice', path)
        const old = host.sessionIdOf(browser)
        expect((await browser.login('alice', {}, path)).status).toBe(200)
        expect(await browser.me()).toBe(200)
        expect(host.sessionIdOf(browser)).not.toBe(old)
        expect(userSessions(host)).toEqual([host.sessionIdOf(browser)])
        expect(await host.limiter.sessions.count(2)).toBe(1)
      })

      test('in a browser that is signed in as somebody else ends that session', async () => {
        const host = await start(BLOCK, { order })
        const browser = await signedIn(host, 'alice', path)
        expect((await browser.login('bob', {}, path)).status).toBe(200)
        expect((await browser.get('/me')).json()).toEqual({ id: 3 })
        expect([await host.limiter.sessions.count(2), await host.limiter.sessions.count(3)]).toEqual([0, 1])
        expect(userSessions(host)).toEqual([host.sessionIdOf(browser)])
      })
    })
  })
}
