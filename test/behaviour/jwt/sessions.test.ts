import type { IncomingMessage } from 'node:http'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { memoryStore, tokenOf } from '../../../src/index.ts'
import { tokenSessions } from '../../../src/jwt.ts'
import { liveConnections } from '../../../src/live.ts'
import { recordActions } from '../../support/record-actions.ts'
import { GRACE, REUSED, sign, startTokens } from './token-world.ts'

const DAY = 86_400_000
const LIFE = 7 * DAY
const ACTIONS = ['sessmgr_destroy_session', 'sessmgr_destroy_all_sessions', 'sessmgr_session_ended'] as const
const noKey = () => Promise.reject(new Error('no key'))

describe('a login', () => {
  it('registers a session with 128 random bits, and signs claims of its time and life', async () => {
    const { limiter, login } = startTokens({ tokens: { sessionMs: LIFE } })
    const [one, two] = [await login(7), await login(7)]
    expect([one.sid, two.sid]).toEqual([expect.stringMatching(/^jwt_[\w-]{22}$/), expect.not.stringMatching(one.sid)])
    const [session] = await limiter.sessions.list(7)
    expect(session).toMatchObject({ userId: 7, token: tokenOf(one.sid), ip: '192.0.2.1', userAgent: 'test' })
    const { createdAt = 0, expiresAt } = session ?? {}
    const iat = Math.floor(createdAt / 1000)
    expect(one).toEqual({ sub: '7', sid: one.sid, rot: 0, iat, exp: iat + LIFE / 1000 })
    expect(expiresAt).toBe(createdAt + LIFE)
  })

  it('signs nothing if it is refused, and is undone if nothing can be signed', async () => {
    const { store, limiter, tokens, login, warnings } = startTokens({ settings: { maximum: 1, logic: 'block' } })
    await expect(tokens.login({ userId: 'ada' }, noKey)).rejects.toThrow('no key')
    expect(await limiter.sessions.count('ada')).toBe(0)
    await login()
    const unsigned = vi.fn(sign)
    expect(await tokens.login({ userId: 'ada' }, unsigned)).toMatchObject({ admitted: false })
    expect(unsigned).not.toHaveBeenCalled()
    store.sessions.end = () => Promise.reject(new Error('down'))
    await expect(tokens.login({ userId: 'bob' }, noKey)).rejects.toThrow('no key')
    expect(warnings.join()).toContain('could not be undone')
  })
})

describe('a refresh', () => {
  it('moves the life on, and keeps the place, its order and its time', async () => {
    const { clock, limiter, login, refresh } = startTokens({ tokens: { sessionMs: LIFE } })
    const [first] = [await login(), await login()]
    const before = await limiter.sessions.list('ada')
    clock.advance(DAY)
    const second = await refresh(first)
    const moved = { lastSeenAt: clock.now(), expiresAt: clock.now() + LIFE }
    expect(await limiter.sessions.list('ada')).toEqual([{ ...before[0], ...moved }, before[1]])
    expect(second).toEqual({ ...first, rot: 1, iat: first.iat + DAY / 1000, exp: first.exp + DAY / 1000 })
  })

  it('gives every parallel refresh of one token the same claims, and repeats those that could not be signed', async () => {
    const { clock, tokens, login, refresh } = startTokens()
    const first = await login()
    const all = await Promise.all(Array.from({ length: 50 }, () => tokens.refresh(first, sign)))
    expect(new Set(all.map((one) => JSON.stringify(one.live && one.tokens))).size).toBe(1)
    expect(all.filter((one) => one.live && !one.repeated)).toHaveLength(1)
    const second = await refresh(first)
    await expect(tokens.refresh(second, noKey)).rejects.toThrow('no key')
    clock.advance(GRACE - 1)
    expect(await tokens.refresh(second, sign)).toMatchObject({ live: true, repeated: true, tokens: { rot: 2 } })
  })

  it('signs nothing if its session ends between the rotation and the signature', async () => {
    const { store, limiter, tokens, login } = startTokens()
    const { rotate } = store.sessions
    for (const end of [() => limiter.sessions.endAll('ada'), () => limiter.sessions.logoutAllUsers()]) {
      const first = await login()
      const unsigned = vi.fn(sign)
      store.sessions.rotate = async (...given) => {
        const rotation = await rotate.apply(store.sessions, given)
        await end()
        return rotation
      }
      expect(await tokens.refresh(first, unsigned)).toMatchObject({ live: false })
      expect(unsigned).not.toHaveBeenCalled()
      store.sessions.rotate = rotate.bind(store.sessions)
    }
  })
})

describe('a check', () => {
  it('counts as use, also from memory, and the expiry stays', async () => {
    const { clock, limiter, login } = startTokens({ touchEvery: 1 })
    const live = liveConnections(limiter)
    onTestFinished(() => live.close())
    for (const sessions of [tokenSessions(limiter), tokenSessions(limiter, { live })]) {
      const own = await login()
      const [before] = (await limiter.sessions.list('ada')).slice(-1)
      for (let round = 0; round < 2; round++) {
        clock.advance(60_000)
        await new Promise((resolve) => setTimeout(resolve, 5))
        expect((await sessions.check(own)).session).toBeDefined()
        await new Promise(setImmediate)
        const [after] = (await limiter.sessions.list('ada')).slice(-1)
        expect(after).toEqual({ ...before, lastSeenAt: clock.now() })
      }
    }
  })

  it('records at most one use per interval, none after a login or a refresh, and ignores failures', async () => {
    const store = memoryStore()
    const touch = vi.fn((): Promise<boolean> => Promise.reject(new Error('away')))
    store.sessions.touch = touch
    const { limiter, tokens, login, refresh } = startTokens({ store })
    const live = liveConnections(limiter)
    onTestFinished(() => live.close())
    const own = await refresh(await login())
    const elsewhere = [tokenSessions(limiter), tokenSessions(limiter, { live })]
    for (const [sessions, uses] of [[tokens, 0], ...elsewhere.map((each) => [each, 1] as const)] as const) {
      touch.mockClear()
      for (let round = 0; round < 100; round++) expect((await sessions.check(own)).session).toBeDefined()
      expect(touch).toHaveBeenCalledTimes(uses)
    }
    await tokens.logout(own)
    touch.mockClear()
    for (const sessions of [tokens, tokenSessions(limiter)]) expect((await sessions.check(own)).ended).toBeDefined()
    expect(touch).not.toHaveBeenCalled()
  })

  it('identifies the caller of a request, also from memory', async () => {
    const { limiter, tokens, login } = startTokens()
    const live = liveConnections(limiter)
    onTestFinished(() => live.close())
    const cached = tokenSessions(limiter, { live })
    const claims = { ...(await login(7)), sub: 7 }
    for (const sessions of [tokens, cached, cached]) {
      const request = { headers: {} } as IncomingMessage
      const state = await sessions.check(claims, request)
      expect(state).toEqual({ session: { userId: 7, token: tokenOf(claims.sid) } })
      expect(await limiter.nonce(request)).toBeTypeOf('string')
    }
    const request = { headers: {} } as IncomingMessage
    await tokens.check({ ...claims, sid: 'other' }, request)
    expect(await limiter.nonce(request)).toBeUndefined()
  })

  it('is not told that a session has ended if the request has no token', async () => {
    const { limiter, tokens } = startTokens()
    const request = { headers: {} } as IncomingMessage
    expect(await tokens.check({}, request)).toEqual({ ended: { reason: 'missing' } })
    expect(await limiter.signedOut(request)).toBeUndefined()
  })
})

describe('a refresh token that is used again', () => {
  it('ends its session once, and no other', async () => {
    const { clock, limiter, tokens, login, refresh, isLive } = startTokens()
    const [stolen, other] = [await login(), await login()]
    const honest = await refresh(stolen)
    clock.advance(GRACE)
    const actions = recordActions(limiter.hooks, ACTIONS)
    const all = await Promise.all([stolen, stolen, honest].map((claims) => tokens.refresh(claims, sign)))
    expect(all.slice(0, 2)).toMatchObject([REUSED, REUSED])
    expect(await tokens.refresh(honest, sign)).toMatchObject(REUSED)
    expect([await isLive(honest), await isLive(other)]).toEqual([false, true])
    expect(actions.map(([name]) => name).sort()).toEqual(['sessmgr_destroy_session', 'sessmgr_session_ended'])
  })

  it('ends all sessions of the user if that is wanted, with one action', async () => {
    const { tokens, login, refresh, isLive, limiter } = startTokens({ tokens: { graceMs: 0, onReuse: 'user' } })
    const [stolen, other, foreign] = [await login(), await login(), await login('bob')]
    await refresh(stolen)
    const actions = recordActions(limiter.hooks, ACTIONS)
    await Promise.all([tokens.refresh(stolen, sign), tokens.refresh(stolen, sign)])
    expect((await tokens.check(other)).ended?.cause?.kind).toBe('reused')
    expect([await limiter.sessions.count('ada'), await isLive(foreign)]).toEqual([0, true])
    expect(actions.filter(([name]) => name === 'sessmgr_destroy_all_sessions')).toHaveLength(1)
  })

  it('is not blamed for a session that a site-wide logout has ended', async () => {
    const { tokens, login, refresh, limiter } = startTokens({ tokens: { graceMs: 0 } })
    const first = await login()
    await refresh(first)
    const actions = recordActions(limiter.hooks, ACTIONS)
    await limiter.sessions.logoutAllUsers()
    expect(await tokens.refresh(first, sign)).toMatchObject({ live: false, ended: { reason: 'logout_all' } })
    expect(actions.map(([name]) => name)).not.toContain('sessmgr_destroy_session')
  })
})

describe('claims', () => {
  it('that name no session are refused, and end nothing', async () => {
    const { limiter, tokens, login, isLive } = startTokens()
    const own = await login()
    await login('bob')
    const actions = recordActions(limiter.hooks, ACTIONS)
    // A huge number is taken for the current token, whose rotation the store has lost: see the contract of stores.
    const rots = [undefined, '0', Number.NaN, -1, 0.5, 2 ** 53 - 1, 1e300, [0]].map((rot) => ({ ...own, rot }))
    const wrong: unknown[] = [
      ...[undefined, null, '', 1, 'jwt_', `${own.sid}x`, own.sid.slice(1), [own.sid]].map((sid) => ({ ...own, sid })),
      ...[undefined, null, '', {}].map((sub) => ({ ...own, sub })),
      undefined,
      null,
    ]
    const missing = { ended: { reason: 'missing' } }
    const over = { ended: { reason: 'ended' } }
    const ofAnother = { ...own, sub: 'bob' }
    for (const claims of [...rots, ofAnother]) {
      expect(await tokens.refresh(claims as never, sign)).toEqual({ live: false, ...over })
    }
    expect(await tokens.check(ofAnother)).toEqual(over)
    await tokens.logout(ofAnother)
    for (const claims of wrong) {
      expect(await tokens.refresh(claims as never, sign)).toEqual({ live: false, ...missing })
      expect(await tokens.check(claims as never)).toEqual(missing)
      await tokens.logout(claims as never)
    }
    for (const call of [tokens.check, tokens.logout, (token: never) => tokens.refresh(token, sign)]) {
      await expect(call('eyJhbGciOi' as never)).rejects.toMatchObject({
        code: 'invalid_option',
        message: 'Pass the claims of a verified token, { sub, sid }, not the token itself.',
      })
    }
    expect([actions, await limiter.sessions.count('bob'), await isLive(own)]).toEqual([[], 1, true])
  })
})

it('a logout ends the session of its claims alone, any number of times', async () => {
  const { limiter, login, isLive, tokens } = startTokens()
  const [one, two] = [await login(), await login()]
  await tokens.logout(one)
  await tokens.logout(one)
  expect([await isLive(one), await isLive(two)]).toEqual([false, true])
  expect((await limiter.sessions.list('ada')).map(({ token }) => token)).toEqual([tokenOf(two.sid)])
})

it('tokenSessions() rejects wrong arguments', () => {
  const { limiter, tokens } = startTokens()
  const rejects = (options: object, message: RegExp) => expect(() => tokenSessions(limiter, options)).toThrow(message)
  rejects({ sessionMs: 59_999 }, /"sessionMs" must be a whole number/)
  rejects({ graceMs: 120_001 }, /"graceMs" must be a whole number/)
  rejects({ onReuse: 'all' }, /"onReuse" must be 'session' or 'user'/)
  rejects({ live: {} }, /"live.track" must be a function/)
  rejects({ grace: 1 }, /no option "grace".*graceMs/)
  expect(() => tokenSessions({} as never)).toThrow(/tokenSessions\(limiter\)/)
  return expect(tokens.login({ userId: 'ada' }, undefined as never)).rejects.toThrow(/"sign" must be a function/)
})
