import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../../src/sessions/token.ts'
import { createLimiterWorld, type LimiterWorld } from '../../support/limiter-world.ts'
import { EVERY_SESSION, type FiredAction, recordActions } from '../../support/record-actions.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'

function listen(parts?: Parameters<typeof createLimiterWorld>[0]): LimiterWorld & { events: FiredAction[] } {
  const world = createLimiterWorld(parts)
  return { ...world, events: recordActions(world.limiter.hooks, EVERY_SESSION) }
}

/** The ends among events: the raw id of each session with its kind. */
const endsIn = (events: readonly FiredAction[], ids: readonly (string | undefined)[]) =>
  events
    .filter(([name]) => name === 'sessmgr_session_ended')
    .map(([, session, end]) => [
      ids.find((id) => tokenOf(id ?? '') === (session as { token: string }).token),
      (end as { kind: string }).kind,
    ])

describe('the events of a login', () => {
  it('tell of its start, and of the ends that make room for it, with who ended them', async () => {
    const { login, events, clock, limiter } = listen()
    const first = (await login(7)) as string
    const second = (await login(7, { userAgent: FIREFOX, ip: '192.0.2.7' })) as string
    const [session] = await limiter.sessions.list(7)
    const by = { token: tokenOf(second), device: 'Firefox on Linux', ip: '192.0.2.7' }
    expect(events.slice(1)).toEqual([
      [
        'sessmgr_session_ended',
        expect.objectContaining({ token: tokenOf(first), userId: 7 }),
        { kind: 'displaced', at: clock.now(), by },
      ],
      ['sessmgr_session_started', session, { replaced: null, displaced: [tokenOf(first)], adopted: false }],
    ])
  })

  it('tell a session of the same browser, and one that the session store has lost, from a displaced one', async () => {
    const { login, events, host } = listen({ settings: { maximum: 2 } })
    const first = (await login(7)) as string
    const second = (await login(7, { replaces: first })) as string
    const third = (await login(7)) as string
    host.ids.delete(second)
    await login(7)
    await login(7)
    expect(endsIn(events, [first, second, third])).toEqual([
      [first, 'replaced'],
      [second, 'lost'],
      [third, 'displaced'],
      [undefined, 'displaced'],
    ])
    const starts = events.filter(([name]) => name === 'sessmgr_session_started').map(([, , how]) => how)
    expect(starts[1]).toEqual({ replaced: tokenOf(first), displaced: [], adopted: false })
  })

  it('tell of a session that keeps its id as replaced by itself, and leave it in the session store', async () => {
    const { limiter, host, events } = listen()
    for (const replaces of [undefined, 'raw']) {
      await limiter.admit({ userId: 7, replaces }, async () => host.establish(1000, 'raw'))
    }
    expect(endsIn(events, ['raw'])).toEqual([['raw', 'replaced']])
    expect(events.at(-1)?.[2]).toMatchObject({ replaced: tokenOf('raw') })
    expect(host.ids).toContain('raw')
  })

  it('tell of a refusal: the mode, the limit, and how many sessions are live', async () => {
    const { login, events, fired } = listen({ settings: { maximum: 2, logic: 'block' } })
    await login(7)
    await login(7)
    expect(await login(7)).toBeUndefined()
    expect(events.slice(2)).toEqual([
      ['sessmgr_login_refused', 7, { mode: 'block', maximum: 2, live: 2, asked: false }],
    ])
    expect(fired).toEqual([['sessmgr_login_blocked', 7]])
  })
})

describe('the events of the other ends', () => {
  it('name who called, and each session once', async () => {
    const { login, limiter, events } = listen({ settings: { maximum: 9 } })
    const ids = []
    for (let count = 0; count < 4; count++) ids.push(await login(7))
    const [one = '', two = '', , four = ''] = ids
    await limiter.sessions.end(7, tokenOf(one), { by: 'user', device: 'Safari on iPhone' })
    await limiter.sessions.end(7, tokenOf(one))
    await limiter.release(7, tokenOf(two))
    await limiter.release(7, tokenOf(two))
    await limiter.sessions.endOthers(7, tokenOf(four), { by: 'admin', actor: 1, note: 'Bye.' })
    await limiter.sessions.endAll(7)
    await limiter.sessions.endAll(7)
    expect(endsIn(events, ids)).toEqual(
      [one, two, ids[2], four].map((id, index) => [id, ['user', 'signed_out', 'admin', 'app'][index]]),
    )
    const ends = events.slice(4).map(([, , end]) => end)
    expect(ends[0]).toMatchObject({ by: { device: 'Safari on iPhone', ip: null } })
    expect(ends[2]).toMatchObject({ by: { actor: 1, device: null, ip: null }, note: 'Bye.' })
    expect(ends[3]).toEqual({ kind: 'app', at: expect.any(Number) })
  })

  it('come at the next use after a site-wide logout, with its time and who did it', async () => {
    const { login, limiter, events } = listen({ settings: { maximum: 9 } })
    const [used = '', left = ''] = [await login(7), await login(7)]
    const epoch = await limiter.sessions.logoutAllUsers(undefined, { by: 'admin', actor: 1 })
    expect(events).toHaveLength(2)
    await Promise.all([limiter.invalidate(7, used), limiter.invalidate(7, used)])
    await limiter.release(7, tokenOf(left))
    expect(events.slice(2).map(([, , end]) => end)).toEqual([
      { kind: 'logout_all', at: epoch * 1000, by: { actor: 1, device: null, ip: null } },
      { kind: 'logout_all', at: expect.any(Number) },
    ])
  })
})

it('a session from before sessmgr starts once, at its first use', async () => {
  const { limiter, events } = listen()
  const session = { sessionId: 'old', ttlMs: 1000, ip: null, userAgent: null, device: null }
  await Promise.all([limiter.adopt(7, session), limiter.adopt(7, session)])
  expect(events).toEqual([
    [
      'sessmgr_session_started',
      expect.objectContaining({ token: tokenOf('old') }),
      { replaced: null, displaced: [], adopted: true },
    ],
  ])
})
