import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import { memoryStore, type SessmgrOptions, sessmgr, tokenOf } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import { recordActions } from '../../support/record-actions.ts'

const TTL_MS = 60_000

/** Explicit calls over a set of session ids. */
function start(options: SessmgrOptions = {}, held = new Set<string>()) {
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error() {} }
  const limiter = sessmgr({ logger, ...options })
  onTestFinished(() => limiter.close())
  const calls = explicitCalls(limiter, { exists: (id) => (held.has(id) ? 1 : 0), destroy: (id) => held.delete(id) })
  const login = (userId: string | number, sessionId: string, replaces?: string) =>
    calls.login({ userId, replaces, ip: '192.0.2.1', userAgent: 'test' }, async () => {
      held.add(sessionId)
      return { sessionId, ttlMs: TTL_MS }
    })
  return { limiter, calls, login, held, warnings, actions: recordActions(limiter.hooks) }
}

describe('explicitCalls', () => {
  it('keeps the type of a user id, and what is known of the client, cut to size', async () => {
    const { limiter, calls } = start()
    const login = { userId: 7, ip: '1'.repeat(100), userAgent: 'x'.repeat(1000) }
    const admission = await calls.login(login, async () => ({ sessionId: 'a', ttlMs: TTL_MS }))
    expect(admission).toMatchObject({ admitted: true, session: { userId: 7, token: tokenOf('a') } })
    expect(JSON.stringify(admission)).not.toContain('"a"')
    const [session] = await limiter.sessions.list(7)
    expect(session).toBeUndefined()
    const registered = admission.admitted ? admission.session : undefined
    expect([registered?.ip?.length, registered?.userAgent?.length]).toEqual([64, 512])
  })

  it('rule 6: counts no session that the store has lost', async () => {
    const { limiter, login, held } = start({ settings: { logic: 'block' } })
    await login(2, 'a')
    held.delete('a')
    expect(await limiter.sessions.count(2)).toBe(0)
    expect(await login(2, 'b')).toMatchObject({ admitted: true })
  })

  it('destroys a session whose registration fails, and one whose life it was told wrongly', async () => {
    const store = memoryStore()
    const { calls, login, held, limiter } = start({ store, deadlineMs: 50 })
    const { commit } = store.sessions
    store.sessions.commit = async () => {
      throw new Error('down')
    }
    await expect(login(2, 'a')).rejects.toThrow()
    store.sessions.commit = commit
    expect([...held]).toEqual([])
    const wrong = calls.login({ userId: 2 }, async () => {
      held.add('a')
      return { sessionId: 'a', ttlMs: 0.5 }
    })
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_option' })
    expect([[...held], await limiter.sessions.count(2)]).toEqual([[], 0])
  })

  it('takes null for no earlier session, and for an unknown client', async () => {
    const { calls } = start()
    const login = { userId: 2, replaces: null, ip: null, userAgent: null }
    const admission = await calls.login(login, async () => ({ sessionId: 'a', ttlMs: TTL_MS }))
    expect(admission).toMatchObject({ admitted: true, session: { ip: null, userAgent: null, device: null } })
  })

  it('finds out how a session has ended that the store no longer has', async () => {
    const { calls, login, limiter } = start()
    await login(2, 'a')
    await limiter.sessions.endAll(2, { by: 'admin' })
    const cause = { kind: 'admin', at: expect.any(Number), device: null }
    expect(await calls.missing({ sessionId: 'a' })).toEqual({ ended: { reason: 'missing', cause } })
    expect(await calls.missing({ sessionId: 'unknown' })).toEqual({ ended: { reason: 'missing' } })
    expect(await calls.missing({ sessionId: '' })).toEqual({ ended: { reason: 'missing' } })
  })

  it('rule 13: adopts a session from before, which counts and then can be ended, and else destroys it', async () => {
    const { calls, login, limiter, held } = start({ settings: { logic: 'block' } })
    const session = { userId: 2, sessionId: 'old' }
    const adopt = () => {
      held.add('old')
      return calls.adopt({ ...session, ttlMs: TTL_MS })
    }
    held.add('old')
    expect(await calls.check(session)).toMatchObject({ ended: { reason: 'ended' } })
    expect([...held]).toEqual([])

    const { calls: others } = start({ settings: { logic: 'block' } }, held)
    const state = { session: { userId: 2, token: tokenOf('old') } }
    expect(await others.adopt({ ...session, ttlMs: TTL_MS })).toEqual(state)
    expect(await others.check(session)).toEqual(state)
    await limiter.sessions.logoutAllUsers()
    expect(await adopt()).toMatchObject({ ended: { reason: 'logout_all' } })
    expect(await login(2, 'new')).toMatchObject({ admitted: true })
    expect([...held]).toEqual(['new'])
  })

  it('moves the expiry of a session that is in use, and of none that is over', async () => {
    const clock = fakeClock()
    const { calls, login } = start({ store: memoryStore({ clock }) })
    await login(2, 'a')
    clock.advance(TTL_MS - 1)
    expect(await calls.touch({ userId: 2, sessionId: 'a', ttlMs: TTL_MS })).toBe(true)
    clock.advance(TTL_MS - 1)
    expect(await calls.check({ userId: 2, sessionId: 'a' })).toHaveProperty('session')
    clock.advance(2)
    await login(2, 'b')
    expect(await calls.check({ userId: 2, sessionId: 'a' })).toMatchObject({ ended: { reason: 'ended' } })
    expect(await calls.touch({ userId: 2, sessionId: 'a', ttlMs: TTL_MS })).toBe(false)
  })

  it('records no use that is as good as recorded, and every other expiry', async () => {
    const store = memoryStore()
    const touch = vi.spyOn(store.sessions, 'touch')
    const { calls, login, limiter } = start({ store, settings: { maximum: 2 } })
    const uses = async (ttlMs: number) => {
      touch.mockClear()
      const result = await calls.touch({ userId: 2, sessionId: 'a', ttlMs })
      return [result, touch.mock.calls.length]
    }
    await login(2, 'a')
    expect(await uses(TTL_MS)).toEqual([true, 1])
    expect(await uses(TTL_MS)).toEqual([true, 0])
    expect(await uses(TTL_MS / 2)).toEqual([true, 1])
    touch.mockRejectedValueOnce(new Error('down'))
    await expect(uses(TTL_MS)).rejects.toThrow('down')
    expect(await uses(TTL_MS)).toEqual([true, 1])
    await limiter.sessions.endAll(2)
    expect(await uses(TTL_MS)).toEqual([false, 1])
    expect(await uses(TTL_MS)).toEqual([false, 1])
  })

  it('loads a session with its verdict', async () => {
    const { calls, login, limiter, held } = start()
    await login(2, 'a')
    const load = (sessionId: string, data: object | null) =>
      calls.load({ sessionId }, async () => (held.has(sessionId) ? (data as { userId?: number }) : null))
    const session = { userId: 2, token: tokenOf('a') }
    for (let turn = 0; turn < 2; turn++) {
      expect(await load('a', { userId: 2, cart: [] })).toEqual({ data: { userId: 2, cart: [] }, session })
    }
    held.add('visitor')
    expect(await load('visitor', { cart: [] })).toEqual({ data: { cart: [] } })
    expect(await load('unknown', null)).toEqual({ ended: { reason: 'missing' } })
    await limiter.sessions.end(2, tokenOf('a'))
    held.add('a')
    expect(await load('a', { userId: 2 })).toMatchObject({ ended: { reason: 'ended' } })
    expect([...held]).toEqual(['visitor'])
    expect(await load('a', { userId: 2 })).toMatchObject({ ended: { reason: 'missing' } })
    const failed = calls.load({ sessionId: 'b' }, () => Promise.reject(new Error('down')))
    await expect(failed).rejects.toMatchObject({ message: 'down', status: 503 })
    await expect(load('visitor', { userId: {} })).rejects.toMatchObject({ code: 'user_id_missing' })
  })

  it('finds no session where the store returns nothing, and fails with a read that fails, known or not', async () => {
    const { calls, login } = start()
    await login(2, 'a')
    const load = (read: () => Promise<unknown>) => calls.load({ sessionId: 'a' }, read as never)
    for (const found of [false, 0, '', null, undefined]) {
      expect(await load(async () => ({ userId: 2 }))).toMatchObject({ session: { userId: 2 } })
      expect(await load(async () => found), String(found)).toMatchObject({ ended: {} })
    }
    const unreadable = {
      get userId(): number {
        throw new Error('lazy')
      },
    }
    const failing = [new Error('down'), undefined, null].map((error) => () => Promise.reject(error))
    for (const read of [...failing, async () => unreadable]) {
      for (let turn = 0; turn < 2; turn++) {
        await expect(load(read)).rejects.toThrow()
        await calls.check({ userId: 2, sessionId: 'a' })
      }
    }
  })

  it('logs nobody out twice, and no stranger', async () => {
    const { calls, login, limiter, actions } = start({ settings: { maximum: 2 } })
    await login(2, 'a')
    await login(2, 'b')
    for (const sessionId of ['a', 'a', 'unknown']) await calls.logout({ userId: 2, sessionId })
    expect((await limiter.sessions.list(2)).map(({ token }) => token)).toEqual([tokenOf('b')])
    expect(actions).toEqual([])
  })

  it('passes the error of the session store on', async () => {
    const limiter = sessmgr({ logger: { warn() {}, error() {} } })
    onTestFinished(() => limiter.close())
    const failure = new Error('cannot delete')
    const fails = explicitCalls(limiter, {
      exists: () => true,
      destroy: () => {
        throw failure
      },
    })
    await expect(fails.logout({ userId: 2, sessionId: 'secret-id' })).rejects.toBe(failure)
    expect(failure).toMatchObject({ status: 503, headers: { 'Retry-After': '2' } })
  })

  it('refuses what it cannot work with, by the name of the parameter', async () => {
    const { calls } = start()
    const user = { userId: 2 }
    const [session, create] = [{ ...user, sessionId: 'a' }, async () => ({ sessionId: 'a', ttlMs: TTL_MS })]
    const [noUser, option] = ['user_id_missing', 'invalid_option']
    const refused: [call: Promise<unknown>, code: string, message: RegExp][] = [
      [calls.login({ userId: '' }, create), noUser, /^Expected a user id/],
      [calls.check({ ...session, userId: Number.NaN }), noUser, /^Expected a user id/],
      [calls.check({ ...user, sessionId: '' }), option, /"sessionId"/],
      [calls.missing({ sessionId: 7 as never }), option, /"sessionId"/],
      [calls.login(user, async () => ({ sessionId: 'a', ttlMs: 0 })), option, /"ttlMs"/],
      [calls.login(user, async () => undefined as never), option, /"sessionId"/],
      [calls.login({ ...user, replaces: 5 } as never, create), option, /"replaces"/],
      [calls.login({ ...user, ip: 5 } as never, create), option, /"ip"/],
      [calls.login(user, undefined as never), option, /"create"/],
      [calls.touch({ ...session, ttlMs: 0.5 }), option, /"ttlMs"/],
      [calls.load({ sessionId: 'b' }, undefined as never), option, /"read"/],
    ]
    for (const [call, code, message] of refused) {
      const error = await call.catch((thrown: unknown) => thrown)
      expect(error, String(message)).toMatchObject({ code, status: 500, message: expect.stringMatching(message) })
    }
    const { limiter } = start()
    const sessions = { exists: () => true, destroy() {} }
    expect(() => explicitCalls({} as never, sessions)).toThrow(/"limiter"/)
    expect(() => explicitCalls(limiter, { destroy() {} } as never)).toThrow(/"sessions" must have the methods/)
    expect(() => explicitCalls(limiter, undefined as never)).toThrow(/"sessions"/)
  })

  it('takes no other value of "exists" for held or lost', async () => {
    for (const [held, found] of [
      [undefined, 'undefined'],
      ['{"of":"a session"}', 'a string'],
    ]) {
      const { limiter } = start()
      const { login } = explicitCalls(limiter, { exists: () => held as never, destroy() {} })
      await login({ userId: 2 }, async () => ({ sessionId: 'a', ttlMs: TTL_MS }))
      await expect(limiter.sessions.list(2)).rejects.toMatchObject({
        code: 'invalid_option',
        message: `"sessions.exists" must return true or false, but returned ${found}.`,
      })
    }
  })

  it('holds the limit for sessions that are in their cookies alone, which no store holds or destroys', async () => {
    const limiter = sessmgr({ settings: { maximum: 1, logic: 'logout_oldest' } })
    onTestFinished(() => limiter.close())
    const { login, check } = explicitCalls(limiter, { exists: () => true, destroy() {} })
    for (const sessionId of ['a', 'b']) await login({ userId: 2 }, async () => ({ sessionId, ttlMs: TTL_MS }))
    expect(await check({ userId: 2, sessionId: 'a' })).toMatchObject({ ended: { reason: 'ended' } })
    expect(await check({ userId: 2, sessionId: 'b' })).toHaveProperty('session')
    await limiter.sessions.logoutAllUsers()
    expect(await check({ userId: 2, sessionId: 'b' })).toMatchObject({ ended: { reason: 'logout_all' } })
  })
})

/** Explicit calls in mode `ask`, with session `a` of user 2. */
async function startAsking(maximum = 1) {
  const held = new Set<string>()
  const limiter = sessmgr({ settings: { maximum, logic: 'ask' }, logger: { warn() {}, error() {} } })
  onTestFinished(() => limiter.close())
  const calls = explicitCalls(limiter, { exists: (id) => held.has(id), destroy: (id) => held.delete(id) })
  const login = (sessionId: string, ends?: readonly string[]) =>
    calls.login({ userId: 2, ends }, async () => {
      held.add(sessionId)
      return { sessionId, ttlMs: 60_000 }
    })
  await login('a')
  return { limiter, calls, login, held }
}

describe('explicit calls in mode ask', () => {
  it('tell what the user must choose, and end it with the login that follows', async () => {
    const { calls, login, held } = await startAsking()
    const refused = await login('b')
    expect(refused).toMatchObject({
      admitted: false,
      choice: { need: 1, maximum: 1, sessions: [{ token: tokenOf('a') }] },
    })
    const secret = await calls.pending.open(2)
    expect([await calls.pending.read(secret), [...held]]).toEqual([2, ['a']])
    expect(await calls.pending.take(secret)).toMatchObject({ userId: 2 })
    expect(await login('b', [tokenOf('a')])).toMatchObject({ admitted: true, session: { token: tokenOf('b') } })
    expect([...held]).toEqual(['b'])
  })

  it('take a pending login once, and know no other', async () => {
    const { calls } = await startAsking()
    const secret = await calls.pending.open('alice', 60)
    const taken = await Promise.all(Array.from({ length: 20 }, () => calls.pending.take(secret)))
    expect(taken.filter((one) => one?.userId === 'alice')).toHaveLength(1)
    for (const unknown of [secret, '', undefined, 'x'.repeat(43), 'x'.repeat(10_000)]) {
      expect([await calls.pending.read(unknown), await calls.pending.take(unknown)]).toEqual([undefined, undefined])
    }
  })

  it('put a pending login back twice, for three tries in all', async () => {
    const { calls } = await startAsking()
    const secret = await calls.pending.open(2)
    const tries = []
    for (let login = await calls.pending.take(secret); login; login = await calls.pending.take(secret)) {
      tries.push(await login.putBack())
    }
    expect(tries).toEqual([true, true, false])
  })

  it('let no pending login go on after all sessions of its user, or of everybody, were ended', async () => {
    for (const end of ['endAll', 'logoutAllUsers'] as const) {
      const { calls, limiter } = await startAsking()
      const secret = await calls.pending.open(2)
      await (end === 'endAll' ? limiter.sessions.endAll(2) : limiter.sessions.logoutAllUsers())
      expect([await calls.pending.read(secret), await calls.pending.take(secret)], end).toEqual([undefined, undefined])
    }
  })

  it('free no place for a name that ends nothing', async () => {
    const { limiter, login } = await startAsking()
    await limiter.settings.update({ maximum: 2 })
    await login('b')
    for (const ends of [[], [tokenOf('unknown')], Array(10_000).fill(tokenOf('unknown'))]) {
      expect(await login('c', ends)).toMatchObject({ admitted: false, choice: { need: 1 } })
    }
    expect(await limiter.sessions.count(2)).toBe(2)
  })

  it('refuse what is no list of tokens, no user and no time', async () => {
    const { calls, login } = await startAsking()
    const code = 'invalid_option'
    for (const ends of ['a', [1], {}, null]) await expect(login('b', ends as never)).rejects.toMatchObject({ code })
    for (const seconds of [59, 901, 60.5]) await expect(calls.pending.open(2, seconds)).rejects.toMatchObject({ code })
    await expect(calls.pending.open(undefined as never)).rejects.toMatchObject({ code: 'user_id_missing' })
  })
})
