import { describe, expect, test } from 'vitest'
import { type LoginOption, type RequestState, tokenOf } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import type { StartHost } from '../../support/host-under-test.ts'
import { loseRace } from '../../support/lose-race.ts'
import { BLOCK, OLDEST, suiteTools } from './suite-tools.ts'

type Way = readonly [order: 'before' | 'after', path: string]

/** By Passport and past it. Where sessmgr stands matters to Passport alone; parallel logins use every other way. */
const WAYS: readonly Way[] = [
  ['before', '/login'],
  ['before', '/direct-login'],
  ['after', '/login'],
]

/** Who loses a race for a slot: how they come to be in the browser, and what is left of them there. */
const LOSERS: [who: string, prepare: (visitor: Browser) => Promise<unknown>, me: object | 401, cart: string[]][] = [
  ['a visitor with a session', (visitor) => visitor.post('/cart', { item: 'tea' }), 401, ['tea']],
  ['a visitor without one', async () => {}, 401, []],
  ['somebody else', (visitor) => visitor.login('bob'), { id: 3 }, []],
]

/** What holds of every way to log in, on every host. */
export function describeLogins(startHost: StartHost, ways: readonly Way[] = WAYS): void {
  const { start, startTwo, signedIn, userSessions } = suiteTools(startHost)

  describe.each(ways)('with sessmgr %s Passport, a login by %s', (order, path) => {
    test('rule 4: is told of as a session of its user, and ends the oldest, whose cookie is nobody', async () => {
      const host = await start(OLDEST, { order })
      const old = await signedIn(host, 'alice', path)
      const young = await signedIn(host, 'alice', path)
      const token = tokenOf(host.sessionIdOf(young) ?? '')
      expect((await young.get('/state')).json()).toEqual({ session: { userId: 2, token } })
      expect((await host.limiter.sessions.list(2)).map((session) => session.token)).toEqual([token])
      for (let turn = 0; turn < 2; turn++) {
        const ended = { reason: 'missing', cause: { kind: 'displaced' } }
        expect((await old.copy().get('/state')).json()).toMatchObject({ ended })
        expect(await old.copy().me()).toBe(401)
      }
      expect([await young.me(), userSessions(host)]).toEqual([200, [host.sessionIdOf(young)]])
      expect(host.actions.map(([name]) => name)).toEqual(['sessmgr_destroy_oldest_session'])
    })

    test('rule 80: as another user does not count: it ends nothing, is never refused, and ends with who acts', async () => {
      const login: LoginOption = ({ from }) => (from ? { label: 'support', counts: false } : undefined)
      for (const logic of ['allow', 'logout_oldest', 'logout_idlest', 'block', 'ask']) {
        const host = await start({ maximum: 1, logic }, { order, sessmgr: { login } })
        const [alice, bob] = [await signedIn(host, 'alice'), await signedIn(host, 'bob')]
        expect((await bob.login('alice', {}, path)).status, logic).toBe(200)
        const { session: acting } = (await bob.get('/state')).json() as RequestState
        expect(acting, logic).toEqual({ userId: 2, token: tokenOf(host.sessionIdOf(bob) ?? ''), actor: 3 })
        const [own, support] = await host.limiter.sessions.list(2)
        expect([own, support], logic).toMatchObject([
          { label: null, counts: true, actor: null },
          { label: 'support', counts: false, actor: 3, token: acting?.token },
        ])
        expect([await alice.me(), (await bob.get('/me')).json()], logic).toEqual([200, { id: 2 }])
        const isRefused = logic === 'block' || logic === 'ask'
        const again = host.browser()
        expect((await again.login('alice', {}, path)).status, logic).toBe(isRefused ? 403 : 200)
        const left = [await alice.me(), await bob.me(), await host.limiter.sessions.count(2)]
        expect(left, logic).toEqual([isRefused ? 200 : 401, 200, 1])

        expect((await bob.login('bob', {}, path)).status, logic).toBe(200)
        expect([(await bob.get('/me')).json(), await host.limiter.sessions.count(3)], logic).toEqual([{ id: 3 }, 1])
        await bob.login('alice', {}, path)
        expect(await bob.me(), logic).toBe(200)
        await host.limiter.sessions.endAll(3)
        expect([await bob.me(), await host.limiter.sessions.count(2)], logic).toEqual([401, 1])
      }
    })

    test('rule 11: that is blocked leaves the browser as it was, and creates no session', async () => {
      const host = await start(BLOCK, { order })
      const first = await signedIn(host, 'alice', path)
      const [visitor, bob] = [host.browser(), await signedIn(host, 'bob')]
      await visitor.post('/cart', { item: 'tea' })
      const id = host.sessionIdOf(visitor)
      const before = host.sessions.sessions.get(id ?? '')
      for (const browser of [visitor, bob]) expect((await browser.login('alice', {}, path)).status).toBe(403)
      expect([host.sessionIdOf(visitor), await visitor.me()]).toEqual([id, 401])
      expect((await visitor.get('/cart')).json()).toEqual(['tea'])
      expect(Object.keys(host.sessions.read(id) ?? {})).toEqual(Object.keys(JSON.parse(before ?? '{}')))
      expect((await bob.get('/me')).json()).toEqual({ id: 3 })
      expect(await first.me()).toBe(200)
      expect(host.actions).toEqual(Array(2).fill(['sessmgr_login_blocked', 2]))
      expect(host.sessions.ids().length).toBe(3)
    })

    test('rule 11: that loses its slot to another process at the last moment leaves all as it was', async () => {
      for (const [who, prepare, me, cart] of LOSERS) {
        const [here, there] = await startTwo(BLOCK, { order })
        const visitor = here.browser()
        await prepare(visitor)
        const id = here.sessionIdOf(visitor)
        const [{ status }, winner] = await loseRace(
          here,
          () => visitor.login('alice', {}, path),
          () => signedIn(there, 'alice', path),
        )
        expect([status, here.sessionIdOf(visitor)], who).toEqual([403, id])
        if (id === undefined) expect(visitor.cookies.size).toBe(0)
        const ids = [id, here.sessionIdOf(winner)].filter(Boolean).toSorted()
        expect(here.sessions.ids().toSorted(), who).toEqual(ids)
        expect([await winner.me(), await here.limiter.sessions.count(2)], who).toEqual([200, 1])
        expect(here.actions).toEqual([['sessmgr_login_blocked', 2]])
        const answer = await visitor.get('/me')
        expect(me === 401 ? answer.status : answer.json(), who).toEqual(me)
        expect((await visitor.get('/cart')).json(), who).toEqual(cart)
      }
    })

    test('rule 7: replaces the session of its user in the same browser, and ends that of somebody else', async () => {
      const host = await start(BLOCK, { order })
      const browser = await signedIn(host, 'alice', path)
      const old = host.sessionIdOf(browser)
      expect((await browser.login('alice', {}, path)).status).toBe(200)
      expect(await browser.me()).toBe(200)
      expect(host.sessionIdOf(browser)).not.toBe(old)
      expect([userSessions(host), await host.limiter.sessions.count(2)]).toEqual([[host.sessionIdOf(browser)], 1])

      expect((await browser.login('bob', {}, path)).status).toBe(200)
      expect((await browser.get('/me')).json()).toEqual({ id: 3 })
      expect([await host.limiter.sessions.count(2), await host.limiter.sessions.count(3)]).toEqual([0, 1])
      expect(userSessions(host)).toEqual([host.sessionIdOf(browser)])
    })

    if (order === 'after') return
    test('rules 6 and 7: keeps its slot while its session is written, and counts before its answer is out', async () => {
      const [here, there] = await startTwo(BLOCK, { order })
      const isRefused = async () => {
        expect((await there.browser().login('alice', {}, path)).status).toBe(403)
      }
      const browser = here.browser()
      const answering = browser.login('alice', {}, `${path}?gate=answer`)
      await here.gates.at('answer').arrived
      // Without a pair it would pass for a session from before sessmgr, if the answer never came.
      const mark = ways === WAYS ? { sessmgr: expect.objectContaining({ userId: 2 }) } : { userId: 2 }
      const stored = here.sessions.ids().map((id) => here.sessions.read(id))
      expect(stored).toEqual([expect.objectContaining(mark)])
      await isRefused()
      here.gates.at('answer').open()
      expect((await answering).status).toBe(200)
      expect(await browser.me()).toBe(200)

      const write = here.sessions.holdNextWrite()
      const renewing = browser.login('alice', {}, path)
      await write.arrived
      await isRefused()
      expect(await browser.copy().me()).toBe(200)
      write.open()
      expect((await renewing).status).toBe(200)
      expect([await browser.me(), userSessions(here)]).toEqual([200, [here.sessionIdOf(browser)]])
    })
  })
}
