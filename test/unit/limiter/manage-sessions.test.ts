import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'

const wide = { settings: { maximum: 10 } }

describe('listing sessions', () => {
  it('gives none for an unknown user', async () => {
    const { limiter } = createLimiterWorld()
    expect(await limiter.sessions.list('nobody')).toEqual([])
    expect(await limiter.sessions.count('nobody')).toBe(0)
  })

  it('gives the records in order of admission, with the facts of the login', async () => {
    const { limiter, clock, login } = createLimiterWorld(wide)
    await login(7, { ip: '192.0.2.1', userAgent: 'Browser' })
    clock.advance(5)
    await login(7)
    const [first, second] = await limiter.sessions.list(7)
    expect(first).toMatchObject({ userId: 7, ip: '192.0.2.1', userAgent: 'Browser', createdAt: clock.now() - 5 })
    expect(second).toMatchObject({ userId: 7, ip: null, userAgent: null, device: null, createdAt: clock.now() })
    expect(await limiter.sessions.count(7)).toBe(2)
  })

  it.each([{ limit: 0 }, { limit: 1.5 }, { after: -1 }, { after: '3' as never }])('refuses page %j', async (page) => {
    const message = expect.stringMatching(/^A page of sessions needs a "limit" of 1 or more.*"after"/)
    const listing = createLimiterWorld().limiter.sessions.list(7, page)
    await expect(listing).rejects.toMatchObject({ code: 'invalid_option', message })
  })

  it('refuses a page with an unknown option, and names the one that was meant', async () => {
    const listing = createLimiterWorld().limiter.sessions.list(7, { limt: 1 } as never)
    await expect(listing).rejects.toMatchObject({ code: 'invalid_option', message: /"limt".*"limit"/ })
  })

  it('tells no raw session id', async () => {
    const { limiter, login } = createLimiterWorld(wide)
    const id = await login(7)
    expect(id).toBeTypeOf('string')
    expect(JSON.stringify(await limiter.sessions.list(7))).not.toContain(id)
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
    expect(await live(7)).toEqual([kept])
    expect(await limiter.sessions.count(7)).toBe(1)
  })
})

describe('ending one session', () => {
  it('ends it in both stores, fires sessmgr_destroy_session, and leaves the others', async () => {
    const { limiter, host, fired, login, live } = createLimiterWorld(wide)
    const [first, second] = [String(await login(7)), String(await login(7))]
    expect(await limiter.sessions.end(7, tokenOf(first))).toBe(true)
    expect([...host.ids]).toEqual([second])
    expect(await live(7)).toEqual([second])
    expect(fired).toEqual([['sessmgr_destroy_session', 7, tokenOf(first)]])
  })

  it('resolves false and fires nothing for a token that the user does not have', async () => {
    const { limiter, fired, login, live } = createLimiterWorld(wide)
    const other = String(await login(8))
    await login(7)
    expect(await limiter.sessions.end(7, tokenOf(other))).toBe(false)
    for (const nonsense of ['nonsense', tokenOf(other).slice(1), other]) {
      expect(await limiter.sessions.end(7, nonsense)).toBe(false)
    }
    expect(await limiter.sessions.end('nobody', tokenOf(other))).toBe(false)
    expect(await live(8)).toEqual([other])
    expect(fired).toEqual([])
  })

  it('refuses a missing token, and a session id in its place', async () => {
    const { limiter, login, live } = createLimiterWorld(wide)
    const id = String(await login(7))
    for (const mistaken of [undefined, id]) {
      await expect(limiter.sessions.end(7, mistaken as string)).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(/^end\(\) needs a token, .* not a session id\./),
      })
    }
    expect(await live(7)).toEqual([id])
  })

  it('resolves true once, for one of many calls at the same time', async () => {
    const { limiter, fired, login } = createLimiterWorld(wide)
    const token = tokenOf(String(await login(7)))
    const results = await Promise.all(Array.from({ length: 20 }, () => limiter.sessions.end(7, token)))
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(fired).toHaveLength(1)
  })

  it('passes the user id on as the host gave it, whatever type the caller used', async () => {
    const { limiter, fired, login } = createLimiterWorld(wide)
    const token = tokenOf(String(await login(7)))
    await limiter.sessions.end('7', token)
    expect(fired).toEqual([['sessmgr_destroy_session', 7, token]])
  })
})

describe('ending all sessions of a user', () => {
  it('ends them in both stores, counts them, and fires sessmgr_destroy_all_sessions once', async () => {
    const { limiter, host, fired, login, live } = createLimiterWorld(wide)
    await login(7)
    await login(7)
    const other = await login(8)
    expect(await limiter.sessions.endAll('7')).toBe(2)
    expect([...host.ids]).toEqual([other])
    expect(await live(7)).toEqual([])
    expect(fired).toEqual([['sessmgr_destroy_all_sessions', 7]])
  })

  it('succeeds and fires also when there is none', async () => {
    const { limiter, fired } = createLimiterWorld()
    expect(await limiter.sessions.endAll('nobody')).toBe(0)
    expect(fired).toEqual([['sessmgr_destroy_all_sessions', 'nobody']])
  })
})

describe('logging all users out', () => {
  it('rule 15: gives Unix seconds, and tells them to the action', async () => {
    const { limiter, fired } = createLimiterWorld({ clock: fakeClock(1_700_000_000_500) })
    expect(await limiter.sessions.logoutAllUsers()).toBe(1_700_000_000)
    expect(fired).toEqual([['sessmgr_logout_all_users', 1_700_000_000]])
  })

  it('rule 15: spares a login that follows within the same second', async () => {
    const { limiter, login, live } = createLimiterWorld(wide)
    await login(7)
    await limiter.sessions.logoutAllUsers()
    const after = await login(7)
    expect(await live(7)).toEqual([after])
  })

  it('rule 17: touches no session and no user, and fires nothing for them', async () => {
    const { limiter, host, fired, login } = createLimiterWorld(wide)
    for (let user = 0; user < 20; user++) await login(user)
    const asked: string[] = []
    const hostSees = (method: 'exists' | 'destroy') => {
      const original = host[method].bind(host)
      host[method] = (async (id: string) => {
        asked.push(method)
        return original(id)
      }) as never
    }
    hostSees('exists')
    hostSees('destroy')
    await limiter.sessions.logoutAllUsers()
    expect(asked).toEqual([])
    expect(host.ids.size).toBe(20)
    expect(fired.map(([name]) => name)).toEqual(['sessmgr_logout_all_users'])
  })
})

describe('logging all users out but one session', () => {
  it('keeps that session, and no other of its user', async () => {
    const { limiter, login, live } = createLimiterWorld(wide)
    const [kept] = [String(await login(7)), await login(7)]
    await limiter.sessions.logoutAllUsers({ userId: '7', token: tokenOf(kept) })
    expect(await live(7)).toEqual([kept])
    expect(await limiter.check(7, tokenOf(kept))).toMatchObject({ live: true })
  })

  it('keeps it from this logout, not from the next', async () => {
    const { limiter, login, live } = createLimiterWorld(wide)
    const kept = String(await login(7))
    await limiter.sessions.logoutAllUsers({ userId: 7, token: tokenOf(kept) })
    await limiter.sessions.logoutAllUsers()
    expect(await live(7)).toEqual([])
  })

  it.each(['stale', 'ended', 'unknown'])('rule 78: changes nothing if that session is %s', async (kind) => {
    const { limiter, fired, login, live } = createLimiterWorld(wide)
    const over = kind === 'unknown' ? kind : String(await login(7))
    if (kind === 'stale') await limiter.sessions.logoutAllUsers()
    if (kind === 'ended') await limiter.sessions.end(7, tokenOf(over))
    const current = await login(7)
    fired.length = 0
    const logout = limiter.sessions.logoutAllUsers({ userId: 7, token: tokenOf(over) })
    await expect(logout).rejects.toMatchObject({ code: 'session_ended', status: 401 })
    expect([await live(7), fired]).toEqual([[current], []])
  })
})

describe('what is no id of a user', () => {
  const noIds: readonly unknown[] = [undefined, null, '', 1.5, Number.NaN, { id: '1' }, [7], true]

  it.each(noIds)('is refused by every method, for %j would end nobody and say nothing', async (given) => {
    const { limiter, fired, login, live } = createLimiterWorld(wide)
    const id = String(await login(7))
    const { sessions } = limiter
    const user = given as number
    for (const call of [
      () => sessions.list(user),
      () => sessions.count(user),
      () => sessions.end(user, tokenOf(id)),
      () => sessions.endAll(user),
    ]) {
      await expect(call()).rejects.toMatchObject({
        code: 'user_id_missing',
        message: expect.stringMatching(/^Expected a user id /),
      })
    }
    expect([await live(7), fired]).toEqual([[id], []])
  })

  it('is told by its kind, not by what is in it', async () => {
    const user = { password: 'hunter2' } as never
    const error = await createLimiterWorld()
      .limiter.sessions.endAll(user)
      .catch((thrown: Error) => thrown)
    expect((error as Error).message).toContain(', got an object.')
  })

  it.each([{}, 'token', { userId: 7 }, { userId: {}, token: 'x' }, { userId: 7, token: '' }, { token: 'x' }])(
    'or no session to keep, as %j, is refused, and nobody is logged out',
    async (keep) => {
      const { limiter, fired, login, live } = createLimiterWorld(wide)
      const id = String(await login(7))
      const logout = limiter.sessions.logoutAllUsers(keep as never)
      await expect(logout).rejects.toMatchObject({ code: 'invalid_option', message: expect.stringMatching(/^"keep"/) })
      expect([await live(7), fired]).toEqual([[id], []])
    },
  )
})

describe('a session store that cannot delete', () => {
  it('does not keep a session from ending, and is logged with the token, never the raw id', async () => {
    const { limiter, host, fired, logged, login, live } = createLimiterWorld(wide)
    const [stuck, other] = [String(await login(7)), String(await login(7))]
    host.stuck.add(stuck)
    expect(await limiter.sessions.endAll(7)).toBe(2)
    expect(await live(7)).toEqual([])
    expect([...host.ids]).toEqual([stuck])
    expect(fired).toEqual([['sessmgr_destroy_all_sessions', 7]])
    expect(logged).toHaveLength(1)
    expect(logged[0]?.[1]).toEqual({ token: tokenOf(stuck), error: expect.any(String) })
    expect(JSON.stringify(logged)).not.toContain(stuck)
    expect(JSON.stringify(logged)).not.toContain(other)
  })

  it('does not fail a login that displaces the session', async () => {
    const { host, logged, login, live } = createLimiterWorld()
    const stuck = String(await login(7))
    host.stuck.add(stuck)
    const next = await login(7)
    expect(await live(7)).toEqual([next])
    expect(JSON.stringify(logged)).toContain(tokenOf(stuck))
    expect(JSON.stringify(logged)).not.toContain(stuck)
  })
})
