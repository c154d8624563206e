import { AsyncLocalStorage } from 'node:async_hooks'
import express from 'express'
import session from 'express-session'
import fc from 'fast-check'
import supertest from 'supertest'
import { afterAll, describe, expect, it, onTestFinished, test, vi } from 'vitest'
import type { AuditEvent } from '../../../src/audit.ts'
import { explicitCalls } from '../../../src/explicit.ts'
import {
  type LoginContext,
  type LoginOption,
  memoryStore,
  type SessionEnd,
  type SessmgrOptions,
  sessmgr,
  tokenOf,
} from '../../../src/index.ts'
import type { LoginAttempt } from '../../../src/limiter/decision/evaluate-login.ts'
import { MOST_SESSIONS } from '../../../src/sessions/session-registry.ts'
import { fakeClock } from '../../../src/testing.ts'
import { aWarning } from '../../support/a-warning.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { useInterleavedStores } from '../../support/interleaved-stores.ts'
import { createLimiterWorld, SimpleHost } from '../../support/limiter-world.ts'
import { rounds } from '../../support/rounds.ts'
import { asked, BOB, CHOOSE, proofIn, signedIn, startAskingHost, tokenOn } from '../choice/choice-host.ts'

const MODES = ['allow', 'logout_oldest', 'logout_idlest', 'block', 'ask']
const of = (label: string | undefined, counts?: boolean): Partial<LoginAttempt> => ({
  given: { ...(label !== undefined && { label }), ...(counts !== undefined && { counts }) },
})

describe('rule 80: a label given at the login', () => {
  const byName = { a: 1, b: 2 }
  const byFunction = (label: string) => ({ a: 1, b: 2 })[label]

  it.each([byName, byFunction])('has a limit of its own beside that of all, whatever labelOf says', async (limits) => {
    const labels = { limits, labelOf: () => 'a', deadlineMs: 1000 }
    const { limiter, login, live } = createLimiterWorld({ labels, settings: { maximum: 4, logic: 'logout_oldest' } })
    const [, a, b1, b2] = [
      await login(7, of('a')),
      await login(7, of('a')),
      await login(7, of('b')),
      await login(7, of('b')),
    ]
    expect(await live(7)).toEqual([a, b1, b2])
    const c = await login(7, of('c'))
    const unnamed = await login(7)
    expect(await live(7), 'labelOf says a').toEqual([b1, b2, c, unnamed])
    const listed = await limiter.sessions.list(7)
    expect(listed.map(({ label }) => label)).toEqual(['b', 'b', 'c', null])
    expect((await limiter.sessions.list(7, { label: 'b', limit: 1 })).map(({ token }) => token)).toEqual([
      tokenOf(String(b1)),
    ])
    expect((await limiter.sessions.list(7, { label: 'a' })).map(({ token }) => token)).toEqual([
      tokenOf(String(unnamed)),
    ])
    const explained = await limiter.explain(7, { label: 'b' })
    expect(explained).toMatchObject({ label: 'b', nextLogin: 'ends', limits: { a: 1, b: 2 } })
    expect(explained.live.map(({ label, wouldEnd }) => [label, wouldEnd])).toEqual([
      ['b', true],
      ['b', false],
      ['c', false],
      ['a', false],
    ])
  })

  it('selects the sessions that end together, each with its action, and leaves the others', async () => {
    const { limiter, login, live, fired } = createLimiterWorld({ settings: { maximum: 9 } })
    const [a1, b, a2] = [await login(7, of('a')), await login(7, of('b')), await login(7, of('a'))]
    expect(await limiter.sessions.endAll(7, { label: 'a', by: 'admin' })).toBe(2)
    expect(await live(7)).toEqual([b])
    expect(fired).toEqual([a1, a2].map((id) => ['sessmgr_destroy_session', 7, tokenOf(String(id))]))
    expect(await limiter.sessions.endAll(7, { label: 'none' })).toBe(0)
    for (const label of [undefined, '', 7] as never[]) {
      await expect(limiter.sessions.endAll(7, { label })).rejects.toThrow('"label" must be a string')
    }
    await expect(limiter.sessions.endOthers(7, tokenOf(String(b)), { label: 'a' } as object)).rejects.toThrow('"label"')
  })

  it('is exact where labelOf is not, which development is told', async () => {
    const site = new AsyncLocalStorage<string>()
    for (const [isKept, left] of [
      [false, 2],
      [true, 3],
    ] as const) {
      const labels = { limits: { x: 1, y: 2 }, labelOf: () => site.getStore(), deadlineMs: 1000 }
      const login = () => ({ label: site.getStore() })
      const world = createLimiterWorld({
        labels,
        ...(isKept && { login }),
        settings: { maximum: 4, logic: 'logout_oldest' },
      })
      for (const name of ['x', 'x', 'y', 'y']) await site.run(name, () => world.login(7))
      expect(await world.live(7), String(isKept)).toHaveLength(left)
      const warning = aWarning('labels-change', /labelOf\(\) returns another label .* "login" option/)
      expect(world.logged.flat().filter((one) => typeof one === 'string')).toEqual(isKept ? [] : [warning])
    }
  })

  it.each([
    [{ label: '' }, '"label" must be a string of 1 to 64 characters'],
    [{ label: 'x'.repeat(65) }, '"label" must be a string of 1 to 64 characters'],
    [{ counts: 1 }, '"counts" must be true or false'],
    [{ lable: 'x' }, '"lable" is unknown'],
    ['support', 'it must return an object'],
    [() => Promise.reject(new Error('broken')), '"login" failed: broken'],
    [() => new Promise(() => {}), '"login" did not respond within 20 ms'],
  ])('fails the login if it is %j', async (answer, message) => {
    const say = (typeof answer === 'function' ? answer : () => answer) as LoginOption
    const { login, host } = createLimiterWorld({ login: say, deadlineMs: 20 })
    await expect(login(7)).rejects.toMatchObject({ message: expect.stringContaining(message), status: 500 })
    expect(host.ids.size).toBe(0)
  })
})

describe('rule 80: a session that does not count', () => {
  it('takes no slot and gives none, is never refused, and can be ended', async () => {
    for (const logic of MODES) {
      const { limiter, login, live } = createLimiterWorld({ settings: { maximum: 1, logic } })
      const counts = vi.fn((reached: boolean, _userId: unknown, _count: number) => reached)
      limiter.hooks.addFilter('sessmgr_reached_limit', 'test', counts)
      const [robot, own, second] = [await login(7, of('bot', false)), await login(7), await login(7, of('bot', false))]
      expect(await live(7), logic).toEqual([robot, own, second])
      const late = await login(7)
      expect(await live(7), logic).toEqual(late === undefined ? [robot, own, second] : [robot, second, late])
      expect(
        counts.mock.calls.map(([, , count]) => count),
        logic,
      ).toEqual([0, 1])
      expect(await limiter.sessions.count(7)).toBe(1)
      expect(await limiter.explain(7)).toMatchObject({ live: [{ counts: false }, {}, {}] })
      expect(await limiter.sessions.end(7, tokenOf(String(robot)))).toBe(true)
      expect(await limiter.sessions.endAll(7), logic).toBe(2)
    }
  })

  it('goes first at the bound of the registry, and only there', async () => {
    const { limiter, login, live } = createLimiterWorld({ settings: { maximum: MOST_SESSIONS, logic: 'block' } })
    const robots = [await login(7, of(undefined, false)), await login(7, of(undefined, false))]
    const own: unknown[] = []
    for (let count = 2; count < MOST_SESSIONS; count++) own.push(await login(7))
    expect(await live(7)).toHaveLength(MOST_SESSIONS)
    own.push(await login(7))
    expect((await live(7)).filter((id) => robots.includes(id))).toEqual([robots[1]])
    own.push(await login(7))
    expect(await live(7)).toEqual(own)
    expect(await login(7)).toBeUndefined()
    expect(limiter.hooks.didAction('sessmgr_destroy_session')).toBe(2)
  }, 30_000)

  it('stays what it is under another id, also of whom acts in it', async () => {
    const settings = { maximum: 1, logic: 'block' }
    const login: SessmgrOptions['login'] = ({ from }) => ({ label: from ? 'support' : 'own', counts: !from })
    const host = await startExpressHost({ sessmgr: { settings, login } })
    const [alice, bob] = [await host.signedIn('alice'), await host.signedIn('bob')]
    await bob.login('alice')
    const before = await host.limiter.sessions.list(2)
    for (const browser of [alice, bob]) expect((await browser.post('/rotate')).status).toBe(204)
    const after = await host.limiter.sessions.list(2)
    expect(after).toMatchObject([
      { label: 'own', counts: true, actor: null, loggedInAt: before[0]?.loggedInAt },
      { label: 'support', counts: false, actor: 3, loggedInAt: before[1]?.loggedInAt },
    ])
    expect(after.map(({ token }) => token)).not.toContain(before[1]?.token)
    expect((await bob.login('alice')).status, 'as after a change of the profile').toBe(200)
    expect((await bob.get('/state')).json()).toMatchObject({ session: { userId: 2, actor: 3 } })
    expect([await alice.me(), await host.limiter.sessions.count(2)]).toEqual([200, 1])
    await host.limiter.eraseUser(3)
    expect(
      (await host.limiter.sessions.list(2)).map(({ actor }) => actor),
      'listed',
    ).toEqual([null])
    expect([await alice.me(), await bob.me()]).toEqual([200, 401])
  })

  it('is as old as the login of who acts, also after going back and forth, and is over once its record is lost', async () => {
    const clock = fakeClock()
    const login: SessmgrOptions['login'] = ({ from }) => ({ counts: !from })
    const settings = { maximum: 1, logic: 'block', max_age: 3600 }
    const setup = { sessmgr: { settings, login, store: memoryStore({ clock }), touchEvery: 0 } }
    const host = await startExpressHost(setup)
    const ends: SessionEnd[] = []
    host.limiter.hooks.addAction('sessmgr_session_ended', 'test', (_session, end) => void ends.push(end))
    const [carol, bob] = [await host.signedIn('carol'), await host.signedIn('bob')]
    for (const name of ['alice', 'bob', 'alice', 'bob', 'alice']) {
      clock.advance(600_000)
      expect((await bob.login(name)).status).toBe(200)
    }
    clock.advance(599_000)
    expect(await bob.me()).toBe(200)
    clock.advance(1000)
    expect([await bob.me(), await carol.me()]).toEqual([401, 401])
    expect(ends.at(-2)).toMatchObject({ kind: 'max_age', after: 3_600_000 })
    await bob.login('bob')
    await bob.login('alice')
    await host.limiter.sessions.endAll(3)
    expect(await bob.me()).toBe(401)
    expect(ends.at(-1)).toMatchObject({ kind: 'signed_out', by: { actor: 3 } })
    await bob.login('bob')
    await bob.login('alice')
    await host.limiter.uninstall()
    expect([await bob.me(), await host.limiter.sessions.list(2)]).toEqual([401, []])
  })

  it('begins also where the application exchanges the session of who acts before it logs in', async () => {
    const clock = fakeClock()
    const limiter = sessmgr({
      store: memoryStore({ clock }),
      login: ({ from }) => ({ counts: !from }),
      sessionUser: ({ userId }) => userId,
    })
    onTestFinished(() => limiter.close())
    const app = express().use(session({ secret: 'x', resave: false, saveUninitialized: false }), limiter)
    app.post('/as/:id', async (req, res) => {
      if (req.sessmgr?.session) await new Promise((done) => req.session.regenerate(done))
      await limiter.login(req, { id: req.params.id })
      Object.assign(req.session, { userId: req.params.id })
      res.json(req.sessmgr)
    })
    const browser = supertest.agent(app)
    await browser.post('/as/bob').expect(200)
    const { body } = await browser.post('/as/alice').expect(200)
    expect(body.session).toMatchObject({ userId: 'alice', actor: 'bob' })
    await limiter.sessions.endAll('bob')
    expect(await limiter.sessions.list('alice')).toEqual([])
  })

  it('is in the activity log, with who acts as whom', async () => {
    const events: AuditEvent[] = []
    const sink = { write: async (some: readonly AuditEvent[]) => void events.push(...some) }
    const login: LoginOption = ({ from }) => ({ counts: !from })
    const host = await startExpressHost({ sessmgr: { login, audit: { sink, mode: 'before' } } })
    await (await host.signedIn('bob')).login('alice')
    const started = events.find(({ user }) => user === 2)
    expect(started).toMatchObject({ type: 'session.started', actor: 3, details: { counts: false } })
  })

  it('does not begin once who would act in it has been signed out', async () => {
    const limiter = sessmgr({ logger: { warn() {}, error() {} } })
    afterAll(() => limiter.close())
    const calls = explicitCalls(limiter, { exists: () => true, destroy() {} })
    let made = 0
    const create = async () => {
      made += 1
      return { sessionId: `raw-${made}`, ttlMs: 60_000 }
    }
    const signIn = async (userId: string, more = {}) => {
      const admission = await calls.login({ userId, ...more }, create)
      return admission.admitted ? { sessionId: `raw-${made}`, session: admission.session } : undefined
    }
    const bob = await signIn('bob')
    const state = await calls.check({ userId: 'bob', sessionId: String(bob?.sessionId) })
    const acting = await signIn('alice', { state, counts: false, label: 'support' })
    expect(acting?.session).toMatchObject({ actor: 'bob', counts: false, label: 'support' })
    const nested = await signIn('carol', {
      state: await calls.check({ userId: 'alice', sessionId: String(acting?.sessionId) }),
      counts: false,
    })
    expect(nested?.session).toMatchObject({ actor: 'bob' })
    await limiter.sessions.end('bob', String(bob?.session.token))
    for (const [userId, sessionId] of [
      ['alice', acting?.sessionId],
      ['carol', nested?.sessionId],
    ] as const) {
      expect(await calls.check({ userId, sessionId: String(sessionId) })).toEqual({ ended: { reason: 'ended' } })
      expect(await limiter.sessions.list(userId)).toEqual([])
    }
    await expect(signIn('dora', { state, counts: false })).rejects.toMatchObject({ code: 'session_ended' })
    await expect(signIn('dora', { counts: 'no' })).rejects.toMatchObject({ code: 'invalid_option' })
  })
})

describe.each(Object.entries(useInterleavedStores()))('over %s', (_, openStore) => {
  test('rule 80: parallel logins with labels and without count hold every limit, in three processes', async () => {
    const logins = fc.array(fc.record({ label: fc.constantFrom('a', 'b', undefined), counts: fc.boolean() }), {
      minLength: 20,
      maxLength: 20,
    })
    let user = 0
    const limits: Record<string, number> = { a: 1, b: 2 }
    const { open } = openStore()
    const host = new SimpleHost()
    for (const logic of MODES) {
      const worlds = [0, 1, 2].map((process) =>
        createLimiterWorld({
          host,
          store: open(process),
          labels: { limits, labelOf: () => undefined, deadlineMs: 5000 },
          settings: { maximum: 3, logic },
        }),
      )
      await fc.assert(
        fc.asyncProperty(logins, async (all) => {
          user += 1
          const made = all.map(({ label, counts }, index) => worlds[index % 3]?.login(user, of(label, counts)))
          const ids = await Promise.all(made)
          const left = (await worlds[0]?.limiter.sessions.list(user)) ?? []
          const counted = left.filter(({ counts }) => counts)
          const held = (label?: string) => counted.filter((one) => label === undefined || one.label === label).length
          const wanted = (label: string) => all.filter((one) => one.counts && one.label === label).length
          for (const label of ['a', 'b']) expect(held(label), logic).toBeLessThanOrEqual(limits[label] ?? 0)
          expect(counted.length, logic).toBeLessThanOrEqual(3)
          // Without an end, each limit is used to the full.
          const isFull = logic === 'block' || logic === 'ask'
          const possible = Math.min(
            3,
            Math.min(1, wanted('a')) + Math.min(2, wanted('b')) + all.filter((one) => one.counts && !one.label).length,
          )
          if (isFull) expect(counted.length, logic).toBe(possible)
          // Whatever does not count is there.
          const free = all.flatMap(({ counts }, index) => (counts ? [] : [tokenOf(String(ids[index]))]))
          expect(left.flatMap(({ counts, token }) => (counts ? [] : [token])).toSorted(), logic).toEqual(
            free.toSorted(),
          )
        }),
        { numRuns: rounds(4) },
      )
    }
  }, 60_000)
})

test('rule 80: a login that waits for a choice keeps its label, which is asked once', async () => {
  const login = vi.fn(({ request }: LoginContext) => ({ label: request.path }))
  const limits = (label: string) => (label === '/login' ? 1 : undefined)
  const host = await startAskingHost(5, {}, { login, limits })
  await signedIn(host, 'windows')
  const [phone, page] = await asked(host)
  expect((await phone.post(CHOOSE, { proof: proofIn(page), end: tokenOn(page) })).location).toBe('/')
  expect(await host.limiter.sessions.list(BOB)).toMatchObject([{ label: '/login', counts: true }])
  expect(login).toHaveBeenCalledTimes(2)
})
