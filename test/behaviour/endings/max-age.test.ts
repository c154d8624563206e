import { describe, expect, it, test, vi } from 'vitest'
import { memoryStore, type SessionEnd } from '../../../src/index.ts'
import { liveConnections } from '../../../src/live.ts'
import { fakeClock } from '../../../src/testing.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'
import { sign, startTokens } from '../jwt/token-world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const HALF_A_DAY = { max_age: 43_200 }

async function startHost(logic = 'block') {
  const clock = fakeClock()
  const settings = { maximum: 1, logic, ...HALF_A_DAY }
  const sessmgr = { settings, store: memoryStore({ clock }), touchEvery: 0 }
  const host = await startExpressHost({ session: { cookie: { maxAge: 14 * DAY } }, sessmgr })
  const ends: SessionEnd[] = []
  host.limiter.hooks.addAction('sessmgr_session_ended', 'test', (_session, end) => void ends.push(end))
  return { clock, host, ends, laptop: await host.signedIn('alice') }
}

describe('rule 79: a session that is used ends at its age', () => {
  test('with a reason of its own, once, for every tab of its browser', async () => {
    const { clock, host, ends, laptop } = await startHost()
    const from = clock.now()
    for (let hour = 0; hour < 11; hour++) {
      clock.advance(HOUR)
      expect(await laptop.me()).toBe(200)
    }
    const [{ expiresAt, loggedInAt } = {}] = await host.limiter.sessions.list(2)
    expect([loggedInAt, expiresAt]).toEqual([from, from + 12 * HOUR])
    clock.advance(HOUR - 1)
    expect(await laptop.me()).toBe(200)
    clock.advance(1)
    const [tab, other] = [laptop.copy(), laptop.copy()]
    const cause = { kind: 'max_age', at: from + 12 * HOUR, after: 12 * HOUR, device: null }
    expect((await tab.get('/state')).json()).toEqual({ ended: { reason: 'ended', cause } })
    expect((await other.get('/state')).json()).toMatchObject({ ended: { cause } })
    const notice = (await laptop.get('/api/sessmgr/v1/me/notice')).json()
    expect(notice.text).toMatch(/this session ended after 12 hours, the longest that one may last\./)
    expect(ends).toMatchObject([{ kind: 'max_age', at: from + 12 * HOUR, after: 12 * HOUR }])
    expect(host.store.read(laptop.sessionId() ?? '')).toBeUndefined()
  })

  test('frees its slot without anybody coming back, and then ends with the next login', async () => {
    const { clock, host, ends, laptop } = await startHost()
    const next = () => host.browser().login('alice')
    clock.advance(12 * HOUR - 1)
    expect([(await next()).status, await host.limiter.sessions.count(2)]).toEqual([403, 1])
    clock.advance(1)
    expect(await host.limiter.sessions.list(2)).toEqual([])
    expect((await next()).status).toBe(200)
    expect(ends).toMatchObject([{ kind: 'max_age', after: 12 * HOUR }])
    expect((await laptop.get('/state')).json()).toMatchObject({ ended: { cause: { kind: 'max_age' } } })
  })

  test('keeps the time of its login under another id, and gets a new one by a login', async () => {
    const { clock, ends, laptop } = await startHost('allow')
    clock.advance(11 * HOUR)
    expect((await laptop.post('/rotate')).status).toBe(204)
    clock.advance(HOUR - 1)
    expect(await laptop.me()).toBe(200)
    expect((await laptop.login('alice')).status).toBe(200)
    clock.advance(11 * HOUR)
    expect(await laptop.me()).toBe(200)
    await laptop.post('/rotate')
    clock.advance(HOUR)
    expect(await laptop.me()).toBe(401)
    expect(ends.at(-1)).toMatchObject({ kind: 'max_age' })
  })

  test('or at another, if the setting has changed by its next use', async () => {
    const { clock, host, laptop } = await startHost()
    await host.limiter.settings.update({ max_age: 0 })
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 2000)
    clock.advance(11 * HOUR)
    expect(await laptop.me()).toBe(200)
    clock.advance(30 * HOUR)
    expect(await laptop.me()).toBe(200)
    await host.limiter.settings.update(HALF_A_DAY)
    vi.mocked(performance.now).mockReturnValue(performance.now() + 4000)
    await laptop.me()
    vi.restoreAllMocks()
    expect((await laptop.get('/state')).json()).toMatchObject({ ended: { cause: { kind: 'max_age' } } })
  })

  test('by the age that code gives its user and label, which it keeps', async () => {
    const labels = {
      limits: {},
      labelOf: ({ userAgent }: { userAgent: string | null }) => userAgent ?? undefined,
      deadlineMs: 1000,
    }
    const max_age = vi.fn(async (userId: unknown, label?: string) => (label === 'tv' ? 0 : userId === 7 ? 60 : 120))
    const { limiter, login, clock, live } = createLimiterWorld({ labels, settings: { maximum: 9, max_age } })
    const [phone, tv, other] = [
      await login(7, {}, DAY),
      await login(7, { userAgent: 'tv' }, DAY),
      await login(8, {}, DAY),
    ]
    expect(max_age.mock.calls).toEqual([
      [7, undefined],
      [7, 'tv'],
      [8, undefined],
    ])
    expect([await limiter.explain(7), await limiter.explain(7, { label: 'tv' })]).toMatchObject([
      { maxAge: 60 },
      { maxAge: 0 },
    ])
    clock.advance(MINUTE - 1)
    expect(await live(7)).toEqual([phone, tv])
    clock.advance(1)
    expect([await live(7), await live(8)]).toEqual([[tv], [other]])
    clock.advance(MINUTE)
    expect([await live(7), await live(8)]).toEqual([[tv], []])
    const kinds: string[] = []
    limiter.hooks.addAction('sessmgr_session_ended', 'test', (_session, { kind }) => void kinds.push(kind))
    await limiter.settings.update({ maximum: 1 })
    await login(7)
    expect(kinds).toEqual(['max_age', 'displaced'])
  })

  it.each([
    ['fails', () => Promise.reject(new Error('broken')), 'hook_failed', '"settings.max_age" failed: broken'],
    ['returns half a minute', () => 30, 'hook_failed', '"settings.max_age" must return 0 for never, or from 60'],
    ['never returns', () => new Promise<number>(() => {}), 'hook_timeout', 'did not respond within 5 ms'],
  ])('and no login, if that code %s', async (_, max_age, code, message) => {
    const { login, host } = createLimiterWorld({ settings: { max_age }, deadlineMs: 5 })
    await expect(login(7)).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
    expect(host.ids.size).toBe(0)
  })

  test('with its refresh tokens, which say so from the first one on', async () => {
    const { clock, tokens, login } = startTokens({ settings: { maximum: 1, max_age: 3600 } })
    const first = await login()
    const end = first.iat + 3600
    expect(first.exp).toBe(end)
    clock.advance(HOUR - MINUTE)
    const second = await tokens.refresh(first, sign)
    expect(second).toMatchObject({ live: true, tokens: { exp: end } })
    clock.advance(MINUTE)
    const cause = { kind: 'max_age', after: HOUR }
    expect(await tokens.refresh({ ...first, rot: 1 }, sign)).toMatchObject({ live: false, ended: { cause } })
    expect(await tokens.check(first)).toMatchObject({ ended: { cause } })
  })

  test('with its open connections, within the time between two checks', async () => {
    const { clock, host } = await startHost()
    const live = liveConnections(host.limiter, { sweepEvery: 100 })
    const [session] = await host.limiter.sessions.list(2)
    const closed = new Promise((resolve) => session && live.track(session, resolve))
    clock.advance(12 * HOUR)
    expect(await closed).toEqual({ code: 'session_ended', kind: 'max_age' })
    await live.close()
  })
})

test('rule 79: whatever its life, its uses and the clock, a session is live until the earlier of both ends', async () => {
  const ages = [60, 3600, 43_200, 2_592_000, 34_560_000]
  for (const age of ages) {
    for (const life of [MINUTE, 30 * MINUTE, DAY, 400 * DAY]) {
      const { limiter, login, clock, live } = createLimiterWorld({ settings: { max_age: age } })
      const id = String(await login(7, {}, life))
      const [session] = await limiter.sessions.list(7)
      const token = session?.token ?? ''
      const end = clock.now() + Math.min(age * 1000, 5 * life)
      for (let use = 1; use <= 5; use++) {
        clock.advance(Math.min(life, age * 1000) - 1)
        const isLive = clock.now() < end
        expect([await live(7), await limiter.touch(7, token, life)], `${age}, ${life}, ${use}`).toEqual(
          isLive ? [[id], true] : [[], false],
        )
        if (!isLive) break
      }
    }
  }
  const { login, clock, live } = createLimiterWorld({ settings: HALF_A_DAY })
  const id = await login(7, {}, DAY)
  clock.advance(-HOUR)
  expect(await live(7)).toEqual([id])
  clock.advance(12 * HOUR - 1)
  expect(await live(7)).toEqual([id])
  // Each session that was ahead is one millisecond later, so that they keep their order.
  clock.advance(2)
  expect(await live(7)).toEqual([])
})
