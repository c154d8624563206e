import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'

const wide = { settings: { maximum: 10 } }

describe('listing sessions', () => {
  it('gives the records in order of admission, with the facts of the login, and no raw session id', async () => {
    const { limiter, clock, login } = createLimiterWorld(wide)
    const id = await login(7, { ip: '192.0.2.1', userAgent: 'Browser' })
    clock.advance(5)
    await login(7)
    const sessions = await limiter.sessions.list(7)
    expect(sessions).toMatchObject([
      { userId: 7, ip: '192.0.2.1', userAgent: 'Browser', createdAt: clock.now() - 5 },
      { userId: 7, ip: null, userAgent: null, device: null, createdAt: clock.now() },
    ])
    expect(JSON.stringify(sessions)).not.toContain(id)
    expect([await limiter.sessions.count(7), await limiter.sessions.count('nobody')]).toEqual([2, 0])
  })

  it('rule 6: leaves out what has expired, is stale, or is lost to the session store', async () => {
    const { limiter, host, clock, login, live } = createLimiterWorld(wide)
    await login(7, {}, 1000)
    const stale = await login(7)
    await limiter.sessions.logoutAllUsers()
    const kept = await login(7)
    const lost = await login(7)
    clock.advance(1000)
    host.ids.delete(String(lost))
    expect(host.ids).toContain(stale)
    expect([await live(7), await limiter.sessions.count(7)]).toEqual([[kept], 1])
  })

  it('goes in pages, each after the last session of the page before', async () => {
    const { limiter, host, login } = createLimiterWorld(wide)
    const ids: string[] = []
    for (let count = 0; count < 5; count++) ids.push(String(await login(7)))
    const all = await limiter.sessions.list(7)
    const first = await limiter.sessions.list(7, { limit: 2 })
    expect(first).toEqual(all.slice(0, 2))
    host.ids.delete(ids[2] ?? '')
    const second = await limiter.sessions.list(7, { limit: 2, after: first[1]?.sequence })
    expect(second).toEqual(all.slice(3))
    expect(await limiter.sessions.list(7, { after: second[1]?.sequence })).toEqual([])
    expect(await limiter.sessions.list(7, {})).toHaveLength(4)
  })

  it('refuses a page that is none, and names the option that was meant', async () => {
    const list = (page: object) => createLimiterWorld().limiter.sessions.list(7, page)
    const message = expect.stringMatching(/^A page of sessions needs a "limit" of 1 or more.*"after"/)
    for (const page of [{ limit: 0 }, { limit: 1.5 }, { limit: '2' }, { after: -1 }, { after: null }]) {
      await expect(list(page), JSON.stringify(page)).rejects.toMatchObject({ code: 'invalid_option', message })
    }
    await expect(list({ limt: 1 })).rejects.toMatchObject({ code: 'invalid_option', message: /"limt".*"limit"/ })
  })
})

describe('ending one session', () => {
  it('ends it in both stores, fires with the id as the host gave it, and leaves the others', async () => {
    const { limiter, host, fired, login, live } = createLimiterWorld(wide)
    const [first, second] = [String(await login(7)), String(await login(7))]
    const results = await Promise.all(Array.from({ length: 20 }, () => limiter.sessions.end('7', tokenOf(first))))
    expect(results.filter(Boolean), 'of many calls at the same time').toHaveLength(1)
    expect([[...host.ids], await live(7)]).toEqual([[second], [second]])
    expect(fired).toEqual([['sessmgr_destroy_session', 7, tokenOf(first)]])
  })

  it('resolves false and fires nothing for a token that the user does not have, or only begins with', async () => {
    const { limiter, fired, login, live } = createLimiterWorld(wide)
    const [own, other] = [String(await login(7)), String(await login(8))]
    const token = tokenOf(own)
    const almost = [token.slice(0, 63), `${token}0`, `${token}\n`, token.slice(0, 32)]
    for (const wrong of [...almost, tokenOf(other), 'nonsense', other]) {
      expect(await limiter.sessions.end(7, wrong), wrong).toBe(false)
    }
    expect(await limiter.sessions.end('nobody', token)).toBe(false)
    for (const keep of [...almost, [token] as unknown as string]) {
      await expect(limiter.sessions.endOthers(7, keep)).rejects.toMatchObject({ code: 'invalid_option' })
    }
    expect([await live(7), await live(8), fired]).toEqual([[own], [other], []])
  })

  it('refuses a missing token, and a session id in its place', async () => {
    const { limiter, login, live } = createLimiterWorld(wide)
    const id = String(await login(7))
    const message = expect.stringMatching(/^end\(\) needs a token, .* not a session id\./)
    for (const mistaken of [undefined, id]) {
      const ending = limiter.sessions.end(7, mistaken as string)
      await expect(ending).rejects.toMatchObject({ code: 'invalid_option', message })
    }
    expect(await live(7)).toEqual([id])
  })
})

it('ending all sessions of a user counts them and fires once, with the id as it was registered, also for none', async () => {
  const { limiter, host, fired, login } = createLimiterWorld(wide)
  await login(7)
  await login(7)
  const other = await login(8)
  expect([await limiter.sessions.endAll('7'), [...host.ids]]).toEqual([2, [other]])
  expect(await limiter.sessions.endAll('nobody')).toBe(0)
  const name = 'sessmgr_destroy_all_sessions'
  expect(fired).toEqual([
    [name, 7],
    [name, 'nobody'],
  ])
})

it('rule 15: logging all users out gives Unix seconds; rule 17: it touches no session and no user', async () => {
  const { limiter, host, fired, login } = createLimiterWorld({ clock: fakeClock(1_700_000_000_500) })
  for (let user = 0; user < 20; user++) await login(user)
  const asked: string[] = []
  for (const method of ['exists', 'destroy'] as const) host[method] = (async () => asked.push(method)) as never
  expect(await limiter.sessions.logoutAllUsers()).toBe(1_700_000_000)
  expect([asked, host.ids.size]).toEqual([[], 20])
  expect(fired).toEqual([['sessmgr_logout_all_users', 1_700_000_000]])
})

describe('what is no id of a user', () => {
  it('is refused by every method, by its kind, for it would end nobody and say nothing', async () => {
    const { limiter, fired, login, live } = createLimiterWorld(wide)
    const id = String(await login(7))
    const { list, count, end, endAll, endOthers } = limiter.sessions
    for (const given of [undefined, null, '', 1.5, Number.NaN, { id: '1' }, [7], true] as never[]) {
      const token = tokenOf(id)
      const calls = [list(given), count(given), end(given, token), endAll(given), endOthers(given, token)]
      const refusal = { code: 'user_id_missing', message: expect.stringMatching(/^Expected a user id /) }
      for (const call of calls) await expect(call, JSON.stringify(given)).rejects.toMatchObject(refusal)
    }
    await expect(endAll({ password: 'hunter2' } as never)).rejects.toThrow(', got an object.')
    expect([await live(7), fired]).toEqual([[id], []])
  })

  it('or no session to keep, is refused, and nobody is logged out', async () => {
    const { limiter, fired, login, live } = createLimiterWorld(wide)
    const id = String(await login(7))
    const wrong = [{}, 'token', { userId: 7 }, { userId: {}, token: 'x' }, { userId: 7, token: '' }, { token: 'x' }]
    for (const keep of wrong) {
      const refusal = { code: 'invalid_option', message: expect.stringMatching(/^"keep"/) }
      await expect(limiter.sessions.logoutAllUsers(keep as never)).rejects.toMatchObject(refusal)
    }
    expect([await live(7), fired]).toEqual([[id], []])
  })
})

it('a session store that cannot delete keeps no session from ending, and no login; the raw id is not logged', async () => {
  const { limiter, host, fired, logged, login, live } = createLimiterWorld({ settings: { maximum: 2, logic: 'allow' } })
  const [stuck, other] = [String(await login(7)), String(await login(7))]
  host.stuck.add(stuck)
  expect([await limiter.sessions.endAll(7), await live(7), [...host.ids]]).toEqual([2, [], [stuck]])
  expect(fired).toEqual([['sessmgr_destroy_all_sessions', 7]])
  const details = { token: tokenOf(stuck), error: expect.any(String) }
  expect(logged).toEqual([[expect.stringMatching(/^An ended session could not be deleted .*still refused\./), details]])
  for (const id of [stuck, other]) expect(JSON.stringify(logged)).not.toContain(id)
  await limiter.settings.update({ maximum: 1 })
  host.stuck.add(String(await login(7)))
  const next = await login(7)
  expect([await live(7), logged.length]).toEqual([[next], 2])
})
