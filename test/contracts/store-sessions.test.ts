import { describe, expect, it } from 'vitest'
import type { UserId } from '../../src/ground/user-id.ts'
import { tokenOf, UNPROVED } from '../../src/sessions/session-record.ts'
import type { SessionRegistry } from '../../src/sessions/session-registry.ts'
import {
  CODES,
  changePending,
  countUse,
  nextUse,
  openPending,
  type StateChange,
} from '../../src/sessions/user-state.ts'
import { IMPLEMENTATIONS, idsOf, LONG, login, newSession, SHORT } from './store/store-case.ts'

const DAY = 24 * 60 * 60_000
const times = <T>(count: number, task: (n: number) => T) => Array.from({ length: count }, (_, n) => task(n))
const adopts = async ({ sessions }: { sessions: SessionRegistry }, userId: UserId, id: string) =>
  (await sessions.adopt(userId, newSession(id))) !== undefined
const idsIn = (ended: readonly { sessionId: string }[] | undefined) => ended?.map(({ sessionId }) => sessionId)

// Databases and Redis have the same registry as rows: redis-driver, drivers and lost-answers ask what theirs adds.
describe.each(Object.entries(IMPLEMENTATIONS))('the registry of sessions over %s', (_, open) => {
  it('registers a session with every field, or null, for every process', async () => {
    const { store, other } = open()
    const { admitted } = await login(store.sessions, 7, 'one')
    const { createdAt } = admitted.record
    const { ttlMs, sessionId, ...given } = newSession('one')
    const life = { createdAt, lastSeenAt: createdAt, expiresAt: createdAt + ttlMs, sequence: expect.any(Number) }
    const record = { token: tokenOf('one'), userId: 7, ...given, ...life }
    expect(admitted).toMatchObject({ sessionId, record })
    expect((await other.sessions.read(7)).sessions).toEqual([admitted])
    const nothing = { ip: null, userAgent: null, device: null, generation: 41 }
    const read = await store.sessions.read(8)
    await store.sessions.commit(8, read, { admit: { ...newSession('a'), ...nothing }, end: [] })
    expect((await other.sessions.read(8)).sessions[0]?.record).toMatchObject(nothing)
    expect((await other.sessions.useOf(8, tokenOf('a')))?.generation).toBe(41)
    const unknown = [await store.sessions.read('nobody'), await store.sessions.end('nobody')]
    expect(unknown).toMatchObject([{ sessions: [], mark: 0, isErased: false }, []])
    expect(await store.sessions.useOf('nobody', tokenOf('one'))).toBeUndefined()
  })

  it('refuses a login if anything stored about the user has changed since its read', async () => {
    const { store, other, pass } = open()
    const { sessions } = other
    const read = await store.sessions.read(1)
    await store.sessions.commit(1, read, { admit: { ...newSession('unused'), takenUp: false }, end: [] })
    const changes: readonly (() => Promise<unknown>)[] = [
      () => login(sessions, 1, 'b'),
      () => sessions.adopt(1, newSession('c')),
      () => sessions.touch(1, tokenOf('b'), LONG),
      () => sessions.takeUp(1, tokenOf('unused')),
      () => sessions.rotate(1, tokenOf('b'), 0, { graceMs: LONG, ttlMs: LONG }),
      () => sessions.changeState(1, openPending('one', LONG, 0)),
      () => sessions.end(1, [tokenOf('c')]),
      () => sessions.endOthers(1, tokenOf('b')),
      () => sessions.end(1),
      () => login(sessions, 1, 'd'),
    ]
    for (const change of changes) {
      pass(2)
      const before = await store.sessions.read(1)
      await change()
      const ids = await idsOf(sessions, 1)
      const late = await store.sessions.commit(1, before, { admit: newSession('late'), end: ids.map(tokenOf) })
      expect(late, String(change)).toEqual({ committed: false })
      expect(await idsOf(sessions, 1), String(change)).toEqual(ids)
    }
  })

  it('accepts one of many logins at once on the same read, and either a use of a session or its end', async () => {
    const { store, other, pass } = open()
    const read = await store.sessions.read(1)
    const commits = times(40, (n) =>
      (n % 2 ? store : other).sessions.commit(1, read, { admit: newSession(`s${n}`), end: [] }),
    )
    expect((await Promise.all(commits)).filter(({ committed }) => committed)).toHaveLength(1)
    expect(await idsOf(store.sessions, 1)).toHaveLength(1)
    for (const user of times(20, (n) => `user ${n}`)) {
      await login(store.sessions, user, 'a', 10 * LONG)
      pass(LONG)
      const [ended, used] = await Promise.all([
        login(store.sessions, user, 'new', LONG, ['a']).catch(() => undefined),
        other.sessions.touch(user, tokenOf('a'), 10 * LONG),
      ])
      expect(used, 'both happened, or neither').toBe(ended === undefined)
    }
  })

  it('rule 8: orders sessions by admission, within one millisecond, and when the clock is set back', async () => {
    const { store, pass } = open()
    const expected = times(12, (n) => `s${11 - n}`)
    for (const [index, id] of expected.entries()) {
      await login(store.sessions, 1, id)
      if (index > 8) pass(-5000)
    }
    const { sessions } = await store.sessions.read(1)
    expect(idsIn(sessions)).toEqual(expected)
    const sequences = sessions.map(({ record }) => record.sequence)
    expect(new Set(sequences).size).toBe(12)
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
    await login(store.sessions, 1, expected[3] as string)
    expect((await idsOf(store.sessions, 1)).at(-1), 'admitted twice, and not the newest').toBe(expected[3])
    expect(await idsOf(store.sessions, 1)).toHaveLength(12)
  })

  it('ends sessions with a login, by token, and all, each once, oldest first', async () => {
    const { store, other } = open()
    const { sessions } = store
    for (const id of ['a', 'b', 'c', 'd', 'e']) await login(sessions, 1, id)
    expect(idsIn((await login(sessions, 1, 'f', LONG, ['a', 'unknown'])).ended)).toEqual(['a'])
    expect(await sessions.end(1, [])).toEqual([])
    expect(idsIn(await sessions.end(1, ['d', 'b', 'x', 'd'].map(tokenOf)))).toEqual(['b', 'd'])
    const results = await Promise.all(times(40, (n) => (n % 2 ? store : other).sessions.end(1, [tokenOf('c')])))
    expect(results.flat()).toHaveLength(1)
    expect(idsIn(await other.sessions.end(1))).toEqual(['e', 'f'])
    expect([await sessions.end(1), await idsOf(sessions, 1)]).toEqual([[], []])
  })

  it('adopts a session once, and no ended one, be it ended by a login, by token or with all', async () => {
    const { store } = open()
    const { sessions } = store
    const first = await sessions.adopt(1, newSession('a'))
    expect(first).toMatchObject({ isNew: true, sessionId: 'a', record: { token: tokenOf('a') } })
    const again = await sessions.adopt(1, { ...newSession('a'), ip: '198.51.100.9' })
    expect([again?.record, again?.isNew ?? false]).toEqual([first?.record, false])
    await login(sessions, 1, 'b', LONG, ['a'])
    expect(await adopts(store, 1, 'a')).toBe(false)
    await sessions.end(1, [tokenOf('b')])
    expect([await adopts(store, 1, 'b'), await adopts(store, 1, 'dormant')]).toEqual([false, true])
    await sessions.end(1)
    expect([await adopts(store, 1, 'dormant'), await idsOf(sessions, 1)]).toEqual([false, []])
    expect(await sessions.touch(1, tokenOf('a'), LONG), 'revived by a use').toBe(false)
    expect(await sessions.useOf(1, tokenOf('a'))).toBeUndefined()
  })

  it('rule 47: adopts no unknown session for 400 days after all ended, and forgets one end in ten minutes', async () => {
    const { store, other, pass } = open()
    await login(store.sessions, 'one', 'a')
    await store.sessions.end('one', [tokenOf('a')])
    pass(600_000 - 1)
    expect(await adopts(other, 'one', 'a')).toBe(false)
    pass(1)
    expect(await adopts(other, 'one', 'a')).toBe(true)
    await store.sessions.end('all')
    await login(other.sessions, 'all', 'new')
    expect([await adopts(store, 'all', 'dormant'), await adopts(store, 'all', 'new')]).toEqual([false, true])
    pass(400 * DAY - 1)
    expect(await adopts(other, 'all', 'dormant')).toBe(false)
    pass(1)
    expect(await adopts(other, 'all', 'dormant')).toBe(true)
  })

  it('remembers the last 32 sessions that ended, in the order of their ends', async () => {
    const { store, other, pass } = open()
    const later = times(32, (n) => `s${n}`)
    for (const id of [...later, 'ended first']) await login(store.sessions, 1, id)
    await store.sessions.end(1, [tokenOf('ended first')])
    pass(20)
    await store.sessions.end(1, later.map(tokenOf))
    for (const id of later) expect(await adopts(other, 1, id), id).toBe(false)
    expect(await adopts(other, 1, 'ended first')).toBe(true)
  })

  it('keeps users apart, whatever their ids look like, but not those whose ids are spelt alike', async () => {
    const { sessions } = open().store
    const users = ['a', 'a*', '*', 'a:b', '{a}', '}{', 'a b', 'ä', '__proto__', 'constructor', '0', '[a]', 'a\nb']
    for (const user of users) await login(sessions, user, `session of ${user}`)
    await sessions.end('*')
    for (const user of users) {
      expect(await idsOf(sessions, user), user).toEqual(user === '*' ? [] : [`session of ${user}`])
    }
    expect(await sessions.useOf('a', tokenOf('session of a:b'))).toBeUndefined()
    await login(sessions, 2, 'a')
    await login(sessions, '2', 'b')
    expect((await sessions.read(2)).sessions.map(({ record }) => record.userId)).toEqual([2, '2'])
  })

  it('ends all sessions but one, which must be live, and leaves a mark', async () => {
    const { store, other, pass } = open()
    const { sessions } = store
    for (const id of ['a', 'kept', 'b', 'ended']) await login(sessions, 1, id)
    await login(sessions, 1, 'short', SHORT)
    await login(sessions, 2, 'of another user')
    await sessions.end(1, [tokenOf('ended')])
    // Sessions of one millisecond are registered one millisecond after the other.
    pass(SHORT + 10)
    const { mark } = await sessions.read(1)
    for (const id of ['unknown', 'ended', 'short', 'of another user']) {
      expect(await sessions.endOthers(1, tokenOf(id)), `${id} was kept`).toBeUndefined()
    }
    expect(await sessions.endOthers('nobody', tokenOf('a'))).toBeUndefined()
    expect([(await other.sessions.read(1)).mark, await adopts(store, 1, 'dormant')]).toEqual([mark, true])
    expect(idsIn(await other.sessions.endOthers(1, tokenOf('kept')))).toEqual(['a', 'b', 'dormant'])
    expect(await sessions.endOthers(1, tokenOf('kept'))).toEqual([])
    const after = await sessions.read(1)
    expect([after.mark !== mark, idsIn(after.sessions)]).toEqual([true, ['kept']])
    for (const id of ['a', 'b', 'unknown']) expect(await adopts(other, 1, id), id).toBe(false)
    expect([await adopts(other, 1, 'kept'), await idsOf(sessions, 2)]).toEqual([true, ['of another user']])
    pass(1)
    await sessions.end(1)
    expect((await sessions.read(1)).mark, 'the mark of the next end').not.toBe(after.mark)
  })

  it('ends every earlier login, and no later one, when all other sessions end', async () => {
    const { store, other } = open()
    await login(store.sessions, 1, 'kept')
    const logins = times(20, async (n) => {
      for (;;) {
        const read = await other.sessions.read(1)
        if ((await other.sessions.commit(1, read, { admit: newSession(`s${n}`), end: [] })).committed) return `s${n}`
      }
    })
    const ending = store.sessions.endOthers(1, tokenOf('kept'))
    const all = await Promise.all(logins)
    const over = idsIn(await ending) ?? []
    const left = await idsOf(store.sessions, 1)
    expect([...over, ...left].toSorted()).toEqual(['kept', ...all].toSorted())
    expect(left).toContain('kept')
  })

  it('lets a session live until it expires, which a use postpones', async () => {
    const { store, other, pass } = open()
    const { sessions } = store
    const { record } = (await login(sessions, 1, 'short', SHORT)).admitted
    await login(sessions, 1, 'used', SHORT)
    pass(SHORT - 1)
    expect(await idsOf(other.sessions, 1)).toEqual(['short', 'used'])
    expect(await sessions.touch(1, tokenOf('used'), LONG)).toBe(true)
    pass(1)
    expect(await idsOf(other.sessions, 1)).toEqual(['used'])
    expect(await other.sessions.useOf(1, tokenOf('short'))).toBeUndefined()
    expect([await sessions.touch(1, tokenOf('short'), LONG), await sessions.end(1, [tokenOf('short')])]).toEqual([
      false,
      [],
    ])
    const { sessions: [used] = [], now } = await other.sessions.read(1)
    expect(now).toBe(record.createdAt + SHORT)
    expect(used?.record).toMatchObject({ lastSeenAt: now - 1, expiresAt: now - 1 + LONG })
    const use = await other.sessions.useOf(1, tokenOf('used'))
    expect(use).toMatchObject({ generation: 0, ttlMs: LONG })
    expect(performance.now() - (use?.usedAt ?? 0)).toBeGreaterThanOrEqual(0)
    const aged = await sessions.adopt(1, { ...newSession('aged'), maxAgeMs: SHORT })
    expect(aged?.record).toMatchObject({ expiresAt: now + SHORT, loggedInAt: now })
  })

  it('rule 87: lets no session live longer, or begin later, because the clock was ahead for a moment', async () => {
    const { store, other, pass } = open()
    await login(store.sessions, 1, 'used', LONG + 600_000)
    pass(600_000)
    await login(store.sessions, 1, 'ahead')
    const read = await store.sessions.read(1)
    expect(await store.sessions.touch(1, tokenOf('used'), LONG)).toBe(true)
    pass(-600_000)
    const { record } = (await login(other.sessions, 1, 'later', SHORT)).admitted
    expect(record.createdAt - read.now, 'it is registered at a time in the future').toBeLessThan(-300_000)
    expect(record.expiresAt).toBe(record.createdAt + SHORT)
    expect(await idsOf(other.sessions, 1)).toEqual(['used', 'ahead', 'later'])
    const late = await store.sessions.commit(1, read, { admit: newSession('c'), end: [] })
    expect(late).toEqual({ committed: false })
    pass(LONG + 10_000)
    expect(await idsOf(other.sessions, 1), 'the jump prolonged a session').toEqual([])
  })

  it('keeps what else is stored about a user, and changes it one change after the other', async () => {
    const { store, other } = open()
    const registries = [store.sessions, other.sessions] as const
    const change = <T>(one: number, step: StateChange<T>) => registries[one % 2 ? 1 : 0].changeState(7, step)
    const frequency = { count: 5, minutes: 10 }
    const counted = await Promise.all(times(30, (n) => change(n, countUse(CODES, frequency))))
    expect(counted.filter(({ until }) => until === undefined)).toHaveLength(5)
    for (const id of ['a', 'b']) await login(store.sessions, 7, id)
    await store.sessions.touch(7, tokenOf('a'), LONG)
    await store.sessions.end(7, [tokenOf('b')])
    expect(await change(1, nextUse(CODES, frequency))).toBeDefined()
    for (const name of ['one', 'other']) await change(0, openPending(name, LONG, 0))
    const take = changePending('one', (waiting) => ({ ...waiting, isTaken: true }))
    const taken = await Promise.all(times(30, (n) => change(n, take)))
    expect(taken.filter((one) => one?.login.isTaken === false)).toHaveLength(1)
    await other.sessions.endOthers(7, tokenOf('a'))
    for (const name of ['one', 'other']) expect(await change(0, changePending(name)), name).toBeUndefined()
    await store.sessions.erase(7)
    expect(await change(1, nextUse(CODES, frequency))).toBeUndefined()
  })

  it('keeps when a user has proved their identity in a session, which only a login does by itself', async () => {
    const { store, other } = open()
    const { sessions } = store
    const life = { graceMs: LONG, ttlMs: LONG }
    const provedAt = async () => (await other.sessions.read(7)).sessions.map((session) => session.provedAt)
    await sessions.adopt(7, newSession('adopted'))
    await login(sessions, 7, 'a')
    expect(await provedAt()).toEqual([UNPROVED, undefined])
    const at = await sessions.changeState(7, (user, now) => ({
      result: now,
      next: { sessions: user.sessions.map((session) => ({ ...session, provedAt: now })) },
    }))
    await sessions.takeUp(7, tokenOf('a'))
    await sessions.rotate(7, tokenOf('a'), 0, life)
    await sessions.touch(7, tokenOf('adopted'), LONG)
    expect(await provedAt()).toEqual([at, at])
    await login(sessions, 7, 'a')
    expect(await provedAt()).toEqual([at, undefined])
  })
})

describe.each(Object.entries(IMPLEMENTATIONS))('an erasure over %s', (_, open) => {
  it('rules 63 and 77: ends the sessions, refuses what began before, and then a new user starts clean', async () => {
    const { store, other, pass } = open()
    const { sessions } = store
    for (const id of ['a', 'b', 'ended']) await login(sessions, 1, id)
    await login(sessions, 2, 'of another user')
    await sessions.end(1, [tokenOf('ended')])
    await sessions.changeState(1, openPending('one', LONG, 0))
    pass(2)
    const before = await sessions.read(1)
    const { ended, at } = await other.sessions.erase(1)
    expect([idsIn(ended), before.now <= at]).toEqual([['a', 'b'], true])
    pass(sessions.quietMs - 1)
    const read = await other.sessions.read(1)
    expect([before.isErased, read.isErased, idsIn(read.sessions)]).toEqual([false, true, []])
    const refused = { code: 'store_unavailable' }
    for (const known of [before, read]) {
      await expect(other.sessions.commit(1, known, { admit: newSession('late'), end: [] })).rejects.toMatchObject(
        refused,
      )
    }
    await expect(other.sessions.adopt(1, newSession('late'))).rejects.toMatchObject(refused)
    await expect(other.sessions.changeState(1, openPending('late', LONG, 0))).rejects.toMatchObject(refused)
    expect((await sessions.erase(1)).ended).toEqual([])
    pass(sessions.quietMs)
    expect(await sessions.read(1)).toMatchObject({ isErased: false, sessions: [], mark: 0 })
    for (const id of ['a login', 'another one']) {
      const late = await sessions.commit(1, before, { admit: newSession('late'), end: [] })
      expect(late, `before ${id}`).toEqual({ committed: false })
      await login(other.sessions, 1, id)
    }
    expect(await idsOf(sessions, 1)).toEqual(['a login', 'another one'])
    expect(await adopts(store, 1, 'ended'), 'an end is still remembered').toBe(true)
    expect(await idsOf(sessions, 2)).toEqual(['of another user'])
  })

  it('removes the mark of a user whose sessions were all ended', async () => {
    const { store, pass } = open()
    await store.sessions.end(1)
    await store.sessions.erase(1)
    await store.sessions.end(1)
    pass(store.sessions.quietMs)
    expect(await adopts(store, 1, 'dormant')).toBe(true)
  })
})
