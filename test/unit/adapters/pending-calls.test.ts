import { describe, expect, it, onTestFinished } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import { sessmgr, tokenOf } from '../../../src/index.ts'

/** Explicit calls in mode `ask`, with session `a` of user 2. */
async function start(maximum = 1) {
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
    const { calls, login, held } = await start()
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
    const { calls } = await start()
    const secret = await calls.pending.open('alice', 60)
    const taken = await Promise.all(Array.from({ length: 20 }, () => calls.pending.take(secret)))
    expect(taken.filter((one) => one?.userId === 'alice')).toHaveLength(1)
    for (const unknown of [secret, '', undefined, 'x'.repeat(43), 'x'.repeat(10_000)]) {
      expect([await calls.pending.read(unknown), await calls.pending.take(unknown)]).toEqual([undefined, undefined])
    }
  })

  it('put a pending login back twice, for three tries in all', async () => {
    const { calls } = await start()
    const secret = await calls.pending.open(2)
    const tries = []
    for (let login = await calls.pending.take(secret); login; login = await calls.pending.take(secret)) {
      tries.push(await login.putBack())
    }
    expect(tries).toEqual([true, true, false])
  })

  it.each([
    { what: 'all sessions of the user were ended', end: 'endAll' },
    { what: 'everybody was signed out', end: 'logoutAllUsers' },
  ])('let no pending login go on after $what', async ({ end }) => {
    const { calls, limiter } = await start()
    const secret = await calls.pending.open(2)
    await (end === 'endAll' ? limiter.sessions.endAll(2) : limiter.sessions.logoutAllUsers())
    expect([await calls.pending.read(secret), await calls.pending.take(secret)]).toEqual([undefined, undefined])
  })

  it('free no place for a name that ends nothing', async () => {
    const { limiter, login } = await start()
    await limiter.settings.update({ maximum: 2 })
    await login('b')
    for (const ends of [[], [tokenOf('unknown')], Array(10_000).fill(tokenOf('unknown'))]) {
      expect(await login('c', ends)).toMatchObject({ admitted: false, choice: { need: 1 } })
    }
    expect(await limiter.sessions.count(2)).toBe(2)
  })

  it('refuse what is no list of tokens, no user and no time', async () => {
    const { calls, login } = await start()
    const code = 'invalid_option'
    for (const ends of ['a', [1], {}, null]) await expect(login('b', ends as never)).rejects.toMatchObject({ code })
    for (const seconds of [59, 901, 60.5]) await expect(calls.pending.open(2, seconds)).rejects.toMatchObject({ code })
    await expect(calls.pending.open(undefined as never)).rejects.toMatchObject({ code: 'user_id_missing' })
  })
})
