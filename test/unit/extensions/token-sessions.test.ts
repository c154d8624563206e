import type { IncomingMessage } from 'node:http'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { memoryStore, type SessmgrOptions, sessmgr, tokenOf } from '../../../src/index.ts'
import { type TokenClaims, type TokenSessionOptions, tokenSessions } from '../../../src/jwt.ts'
import { liveConnections } from '../../../src/live.ts'
import { fakeClock } from '../../../src/testing.ts'
import { recordActions } from '../../support/record-actions.ts'

const DAY = 86_400_000
const GRACE = 30_000
const LIFE = 7 * DAY
const ACTIONS = ['sessmgr_destroy_session', 'sessmgr_destroy_all_sessions', 'sessmgr_session_ended'] as const

/** Token sessions on a clock, whose tokens are their claims. */
function start(options: TokenSessionOptions = {}, given: SessmgrOptions = {}) {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error() {} }
  const limiter = sessmgr({ store, logger, settings: { maximum: 3, logic: 'logout_oldest' }, ...given })
  onTestFinished(() => limiter.close())
  const tokens = tokenSessions(limiter, { sessionMs: LIFE, ...options })
  const sign = async (claims: TokenClaims) => claims
  async function login(userId: string | number = 'ada') {
    const admission = await tokens.login({ userId, ip: '192.0.2.1', userAgent: 'test' }, sign)
    if (!admission.admitted) throw new Error(admission.message)
    return admission.tokens
  }
  async function refresh(claims: object) {
    const result = await tokens.refresh(claims, sign)
    if (!result.live) throw new Error(`over: ${result.ended.cause?.kind ?? result.ended.reason}`)
    return result.tokens
  }
  const isLive = async (claims: object) => (await tokens.check(claims)).session !== undefined
  const causeOf = async (claims: object) => (await tokens.check(claims)).ended?.cause?.kind
  return {
    clock,
    store,
    limiter,
    tokens,
    sign,
    login,
    refresh,
    isLive,
    causeOf,
    warnings,
    actions: recordActions(limiter.hooks, ACTIONS),
  }
}

describe('a login', () => {
  it('registers a session with 128 random bits, and signs claims of its time and life', async () => {
    const { limiter, login, isLive } = start()
    const [one, two] = [await login(7), await login(7)]
    expect(one.sid).toMatch(/^jwt_[\w-]{22}$/)
    expect(two.sid).not.toBe(one.sid)
    const [session] = await limiter.sessions.list(7)
    expect(session).toMatchObject({ userId: 7, token: tokenOf(one.sid), ip: '192.0.2.1', userAgent: 'test' })
    const iat = Math.floor((session?.createdAt ?? 0) / 1000)
    expect(one).toEqual({ sub: '7', sid: one.sid, rot: 0, iat, exp: iat + LIFE / 1000 })
    expect(session?.expiresAt).toBe((session?.createdAt ?? 0) + LIFE)
    expect(await isLive(one)).toBe(true)
  })

  it('keeps the limit among parallel logins, and tells the displaced why', async () => {
    const { limiter, login, isLive, causeOf } = start()
    const all = await Promise.all(Array.from({ length: 20 }, () => login()))
    const live = await Promise.all(all.map(isLive))
    expect(live.filter(Boolean)).toHaveLength(3)
    expect(await limiter.sessions.count('ada')).toBe(3)
    expect(await causeOf(all[live.indexOf(false)] ?? {})).toBe('displaced')
  })

  it('signs nothing if it is refused, and is undone if nothing can be signed', async () => {
    const { limiter, tokens, sign, login } = start({}, { settings: { maximum: 1, logic: 'block' } })
    const failing = () => Promise.reject(new Error('no key'))
    await expect(tokens.login({ userId: 'ada' }, failing)).rejects.toThrow('no key')
    expect(await limiter.sessions.count('ada')).toBe(0)
    await login()
    const unsigned = vi.fn(sign)
    expect(await tokens.login({ userId: 'ada' }, unsigned)).toMatchObject({ admitted: false })
    expect(unsigned).not.toHaveBeenCalled()
  })

  it('says so if it can neither be signed nor undone', async () => {
    const { store, tokens, warnings } = start()
    const failing = () => {
      store.sessions.end = () => Promise.reject(new Error('down'))
      return Promise.reject(new Error('no key'))
    }
    await expect(tokens.login({ userId: 'ada' }, failing)).rejects.toThrow('no key')
    expect(warnings.join()).toContain('could not be undone')
  })
})

describe('a refresh', () => {
  it('moves the life on, and keeps the place, its order and its time', async () => {
    const { clock, limiter, login, refresh } = start()
    const [first] = [await login(), await login()]
    const before = await limiter.sessions.list('ada')
    clock.advance(DAY)
    const second = await refresh(first)
    const after = await limiter.sessions.list('ada')
    expect(after.map(({ token }) => token)).toEqual(before.map(({ token }) => token))
    expect(after[0]?.createdAt).toBe(before[0]?.createdAt)
    expect(after[0]?.expiresAt).toBe((before[0]?.expiresAt ?? 0) + DAY)
    expect(second).toEqual({ ...first, rot: 1, iat: first.iat + DAY / 1000, exp: first.exp + DAY / 1000 })
  })

  it('gives every parallel refresh of one token the same claims', async () => {
    const { limiter, tokens, sign, login } = start()
    const first = await login()
    const all = await Promise.all(Array.from({ length: 50 }, () => tokens.refresh(first, sign)))
    const claims = all.map((one) => JSON.stringify(one.live && one.tokens))
    expect(new Set(claims).size).toBe(1)
    expect(all.filter((one) => one.live && !one.repeated)).toHaveLength(1)
    expect(await limiter.sessions.count('ada')).toBe(1)
  })

  it('signs nobody out whose tabs refresh one after another, and whose replies come late', async () => {
    const { clock, login, refresh } = start()
    let current = await login()
    for (let round = 0; round < 5; round++) {
      const late = current
      for (let tab = 0; tab < 10; tab++) {
        current = await refresh(current)
        clock.advance(100)
        expect((await refresh(late)).rot).toBe(current.rot)
      }
      // Before, at and after the end of the grace period of the first.
      clock.advance(GRACE / 2 - 1100)
    }
  })

  it('repeats the answer whose reply was lost, or whose tokens could not be signed', async () => {
    const { clock, tokens, login, refresh } = start()
    const first = await login()
    const failing = () => Promise.reject(new Error('killed'))
    await expect(tokens.refresh(first, failing)).rejects.toThrow('killed')
    clock.advance(20_000)
    const second = await refresh(first)
    expect(second.rot).toBe(1)
    expect((await refresh(second)).rot).toBe(2)
  })

  it('signs nothing if its session ends between the rotation and the signature', async () => {
    const { store, limiter, tokens, sign, login } = start()
    const { rotate } = store.sessions
    if (!rotate) throw new Error('no rotate')
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

  it('passes on that the store is away, after which the same token is still good', async () => {
    const { store, tokens, sign, login, refresh } = start({}, { deadlineMs: 50 })
    const first = await login()
    const { useOf } = store.sessions
    store.sessions.useOf = () => Promise.reject(Object.assign(new Error('away'), { code: 'store_unavailable' }))
    await expect(tokens.refresh(first, sign)).rejects.toMatchObject({ code: 'store_unavailable' })
    store.sessions.useOf = useOf.bind(store.sessions)
    expect((await refresh(first)).rot).toBe(1)
  })
})

describe('a check', () => {
  it('counts as use, also from memory, and the expiry stays', async () => {
    const { clock, limiter, login } = start({}, { touchEvery: 1 })
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

  it('keeps a session from being released as idle', async () => {
    const settings = { maximum: 1, logic: 'block', idle_release: 300 } as const
    const { clock, tokens, sign, login, isLive } = start({}, { touchEvery: 1, settings })
    const own = await login()
    for (let minute = 0; minute < 6; minute++) {
      clock.advance(60_000)
      await new Promise((resolve) => setTimeout(resolve, 5))
      expect(await isLive(own)).toBe(true)
    }
    expect(await tokens.login({ userId: 'ada' }, sign)).toMatchObject({ admitted: false })
    expect(await isLive(own)).toBe(true)
    clock.advance(300_000)
    expect(await tokens.login({ userId: 'ada' }, sign)).toMatchObject({ admitted: true })
  })

  it('records at most one use per interval, none after a login or a refresh, and ignores failures', async () => {
    const store = memoryStore()
    const touch = vi.fn((): Promise<boolean> => Promise.reject(new Error('away')))
    store.sessions.touch = touch
    const { limiter, tokens, login, refresh, isLive } = start({}, { store })
    const live = liveConnections(limiter)
    onTestFinished(() => live.close())
    const own = await refresh(await login())
    for (let round = 0; round < 100; round++) expect(await isLive(own)).toBe(true)
    expect(touch).not.toHaveBeenCalled()
    for (const elsewhere of [tokenSessions(limiter), tokenSessions(limiter, { live })]) {
      touch.mockClear()
      for (let round = 0; round < 100; round++) expect((await elsewhere.check(own)).session).toBeDefined()
      expect(touch).toHaveBeenCalledTimes(1)
    }
    await tokens.logout(own)
    touch.mockClear()
    for (const sessions of [tokens, tokenSessions(limiter)]) expect((await sessions.check(own)).ended).toBeDefined()
    expect(touch).not.toHaveBeenCalled()
  })
})

describe('a refresh token that is used again', () => {
  it('ends its session once, and no other', async () => {
    const { clock, tokens, sign, login, refresh, isLive, causeOf, actions } = start()
    const [stolen, other] = [await login(), await login()]
    const honest = await refresh(stolen)
    clock.advance(GRACE)
    actions.length = 0
    const all = await Promise.all([1, 2, 3].map(() => tokens.refresh(stolen, sign)))
    for (const one of all) expect(one).toMatchObject({ live: false, ended: { cause: { kind: 'reused' } } })
    expect(await causeOf(honest)).toBe('reused')
    expect(await tokens.refresh(honest, sign)).toMatchObject({ live: false, ended: { cause: { kind: 'reused' } } })
    expect(await isLive(other)).toBe(true)
    const names = actions.map(([name]) => name)
    expect(names.filter((name) => name === 'sessmgr_session_ended')).toHaveLength(1)
    expect(names.filter((name) => name === 'sessmgr_destroy_session')).toHaveLength(1)
  })

  it('ends it also if the attacker came first, and the honest client second', async () => {
    const { clock, tokens, sign, login, refresh, isLive } = start()
    const shared = await login()
    const attacker = await refresh(await refresh(shared))
    clock.advance(GRACE)
    expect(await tokens.refresh(shared, sign)).toMatchObject({ live: false })
    expect(await isLive(attacker)).toBe(false)
  })

  it('ends all sessions of the user if that is wanted, with one action', async () => {
    const { tokens, sign, login, refresh, causeOf, limiter, actions } = start({ graceMs: 0, onReuse: 'user' })
    const [stolen, other, foreign] = [await login(), await login(), await login('bob')]
    await refresh(stolen)
    actions.length = 0
    await Promise.all([tokens.refresh(stolen, sign), tokens.refresh(stolen, sign)])
    expect(await causeOf(other)).toBe('reused')
    expect(await limiter.sessions.count('ada')).toBe(0)
    expect(actions.filter(([name]) => name === 'sessmgr_destroy_all_sessions')).toHaveLength(1)
    expect((await tokens.check(foreign)).session).toBeDefined()
  })

  it('is not blamed for a session that a site-wide logout has ended', async () => {
    const { tokens, sign, login, refresh, limiter, actions } = start({ graceMs: 0 })
    const first = await login()
    await refresh(first)
    await limiter.sessions.logoutAllUsers()
    expect(await tokens.refresh(first, sign)).toMatchObject({ live: false, ended: { reason: 'logout_all' } })
    expect(actions.some(([name]) => name === 'sessmgr_destroy_session')).toBe(false)
  })
})

describe('claims', () => {
  it('that name no session are refused, and end nothing', async () => {
    const { limiter, tokens, sign, login, isLive, actions } = start()
    const own = await login()
    await login('bob')
    actions.length = 0
    const rots = [undefined, null, '0', Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, 2 ** 53 - 1, 2 ** 53, 1e300, [0]]
    const wrong = [
      ...rots.map((rot) => ({ ...own, rot })),
      ...[undefined, null, '', 1, 'jwt_', `${own.sid}x`, own.sid.slice(1), [own.sid]].map((sid) => ({ ...own, sid })),
      ...[undefined, null, '', 'bob', {}].map((sub) => ({ ...own, sub })),
    ]
    for (const claims of [...wrong, undefined, null]) {
      expect(await tokens.refresh(claims as never, sign)).toEqual({ live: false, ended: { reason: 'ended' } })
      if (claims && 'sub' in Object(claims) && !('rot' in Object(claims))) await tokens.logout(claims as never)
    }
    for (const claims of wrong.slice(rots.length)) {
      expect(await tokens.check(claims as never)).toEqual({ ended: { reason: 'ended' } })
      await tokens.logout(claims as never)
    }
    expect(actions).toEqual([])
    expect(await limiter.sessions.count('bob')).toBe(1)
    expect(await isLive(own)).toBe(true)
  })

  it('that are a token are refused', async () => {
    const { tokens, sign } = start()
    const calls = [() => tokens.check, () => tokens.logout, () => (token: never) => tokens.refresh(token, sign)]
    for (const call of calls) {
      await expect(call()('eyJhbGciOi' as never)).rejects.toMatchObject({
        code: 'invalid_option',
        message: 'Pass the claims of a verified token, { sub, sid }, not the token itself.',
      })
    }
  })

  it('with a huge number are taken for the current token, whose rotation the store has lost', async () => {
    const { login, refresh, tokens, sign } = start({ graceMs: 0 })
    const first = await login()
    const huge = await refresh({ ...first, rot: 2 ** 53 - 2 })
    expect(huge.rot).toBe(2 ** 53 - 1)
    expect(await tokens.refresh(first, sign)).toMatchObject({ live: false })
  })
})

describe('token sessions', () => {
  it('reject wrong arguments', () => {
    const { limiter, tokens } = start()
    const rejects = (options: object, message: RegExp) => expect(() => tokenSessions(limiter, options)).toThrow(message)
    rejects({ sessionMs: 59_999 }, /"sessionMs" must be a whole number/)
    rejects({ graceMs: 120_001 }, /"graceMs" must be a whole number/)
    rejects({ onReuse: 'all' }, /"onReuse" must be 'session' or 'user'/)
    rejects({ live: {} }, /"live.track" must be a function/)
    rejects({ grace: 1 }, /no option "grace".*graceMs/)
    expect(() => tokenSessions({} as never)).toThrow(/tokenSessions\(limiter\)/)
    return expect(tokens.login({ userId: 'ada' }, undefined as never)).rejects.toThrow(/"sign" must be a function/)
  })

  it('end and are listed as sessions are, beside those of other session stores', async () => {
    const { limiter, login, isLive, tokens } = start()
    const [one, two] = [await login(), await login()]
    await tokens.logout(one)
    await tokens.logout(one)
    expect(await isLive(one)).toBe(false)
    expect((await limiter.sessions.list('ada')).map(({ token }) => token)).toEqual([tokenOf(two.sid)])
    expect(await limiter.sessions.end('ada', tokenOf(two.sid), { by: 'user' })).toBe(true)
    expect(await tokens.check(two)).toMatchObject({ ended: { cause: { kind: 'user' } } })
  })

  it('identify the caller of a request, also from memory', async () => {
    const { limiter, tokens, login } = start({}, {})
    const live = liveConnections(limiter)
    onTestFinished(() => live.close())
    const cached = tokenSessions(limiter, { live })
    const own = await login(7)
    const claims = { ...own, sub: 7 }
    for (const sessions of [tokens, cached, cached]) {
      const request = { headers: {} } as IncomingMessage
      const state = await sessions.check(claims, request)
      expect(state).toEqual({ session: { userId: 7, token: tokenOf(own.sid) } })
      expect(await limiter.nonce(request)).toBeTypeOf('string')
    }
    const request = { headers: {} } as IncomingMessage
    await tokens.check({ ...claims, sid: 'other' }, request)
    expect(await limiter.nonce(request)).toBeUndefined()
  })
})
