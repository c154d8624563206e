import assert from 'node:assert/strict'
import { tokenOf, UNPROVED } from '../../../src/sessions/session-record.ts'
import {
  CODES,
  changePending,
  countUse,
  nextUse,
  openPending,
  type StateChange,
} from '../../../src/sessions/user-state.ts'
import { idsOf, LONG, login, newSession, SHORT, type StoreCase } from './store-case.ts'

/** The cases about session registries. */
export const registryContract: readonly StoreCase[] = [
  [
    'has no sessions for an unknown user',
    async ({ store }) => {
      assert.deepEqual((await store.sessions.read('nobody')).sessions, [])
      assert.deepEqual(await store.sessions.end('nobody'), [])
      assert.equal(await store.sessions.useOf('nobody', tokenOf('x')), undefined)
    },
  ],
  [
    'registers a session with every field',
    async ({ store, another }) => {
      const { admitted } = await login(store.sessions, 7, 'one')
      const { record, sessionId } = admitted
      assert.equal(sessionId, 'one')
      assert.equal(record.token, tokenOf('one'))
      assert.equal(record.userId, 7)
      assert.equal(record.ip, '192.0.2.1')
      assert.equal(record.userAgent, 'Agent "x" — ünï')
      assert.equal(record.device, 'hWqp9_x-0AbCdEfG')
      assert.equal(record.generation, 0)
      assert.equal(record.lastSeenAt, record.createdAt)
      assert.equal(record.expiresAt, record.createdAt + LONG)
      const other = (await another()).sessions
      assert.deepEqual((await other.read(7)).sessions, [admitted])
      assert.equal((await other.useOf(7, record.token))?.generation, 0)
    },
  ],
  [
    'keeps null for an unknown address, user agent and device',
    async ({ store }) => {
      const read = await store.sessions.read(1)
      const nothing = { ip: null, userAgent: null, device: null }
      await store.sessions.commit(1, read, { admit: { ...newSession('a'), ...nothing }, end: [] })
      const [found] = (await store.sessions.read(1)).sessions
      assert.equal(found?.record.ip, null)
      assert.equal(found?.record.userAgent, null)
      assert.equal(found?.record.device, null)
    },
  ],
  [
    'returns the generation in which a session was admitted',
    async ({ store }) => {
      const read = await store.sessions.read(1)
      await store.sessions.commit(1, read, { admit: { ...newSession('a'), generation: 41 }, end: [] })
      assert.equal((await store.sessions.useOf(1, tokenOf('a')))?.generation, 41)
      assert.equal((await store.sessions.read(1)).sessions[0]?.record.generation, 41)
    },
  ],
  [
    'changes nothing if anything stored about the user has changed since the read',
    async ({ store: { sessions }, another, pass }) => {
      const other = (await another()).sessions
      const unused = { ...newSession('unused'), takenUp: false }
      await sessions.commit(1, await sessions.read(1), { admit: unused, end: [] })
      const changes: readonly (() => Promise<unknown>)[] = [
        () => login(other, 1, 'b'),
        () => other.adopt(1, newSession('c')),
        () => other.touch(1, tokenOf('b'), LONG),
        () => other.takeUp(1, tokenOf('unused')),
        () => other.rotate(1, tokenOf('b'), 0, { graceMs: LONG, ttlMs: LONG }),
        () => other.changeState(1, openPending('one', LONG, 0)),
        () => other.end(1, [tokenOf('c')]),
        () => other.endOthers(1, tokenOf('b')),
        () => other.end(1),
        () => login(other, 1, 'd'),
      ]
      for (const change of changes) {
        await pass(2)
        const read = await sessions.read(1)
        await change()
        const ids = await idsOf(other, 1)
        const late = await sessions.commit(1, read, { admit: newSession('late'), end: ids.map(tokenOf) })
        assert.deepEqual(late, { committed: false }, String(change))
        assert.deepEqual(await idsOf(other, 1), ids)
      }
    },
  ],
  [
    'accepts exactly one of many concurrent commits on the same read',
    async ({ store, another }) => {
      const other = await another()
      const read = await store.sessions.read(1)
      const results = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          (index % 2 ? store : other).sessions.commit(1, read, { admit: newSession(`s${index}`), end: [] }),
        ),
      )
      assert.equal(results.filter(({ committed }) => committed).length, 1)
      assert.equal((await idsOf(store.sessions, 1)).length, 1)
    },
  ],
  [
    'orders sessions by admission, even within one millisecond',
    async ({ store }) => {
      const expected = Array.from({ length: 12 }, (_, index) => `s${11 - index}`)
      for (const id of expected) await login(store.sessions, 1, id)
      const { sessions } = await store.sessions.read(1)
      assert.deepEqual(
        sessions.map(({ sessionId }) => sessionId),
        expected,
      )
      const sequences = sessions.map(({ record }) => record.sequence)
      assert.deepEqual(
        sequences,
        sequences.toSorted((a, b) => a - b),
      )
      assert.equal(new Set(sequences).size, 12)
    },
  ],
  [
    'ends sessions in the same step as registering one, and returns them with their raw ids',
    async ({ store }) => {
      await login(store.sessions, 1, 'a')
      await login(store.sessions, 1, 'b')
      const { ended } = await login(store.sessions, 1, 'c', LONG, ['a', 'unknown'])
      assert.deepEqual(
        ended.map(({ sessionId }) => sessionId),
        ['a'],
      )
      assert.deepEqual(await idsOf(store.sessions, 1), ['b', 'c'])
    },
  ],
  [
    'keeps a session that is admitted twice only once, as the newest',
    async ({ store }) => {
      await login(store.sessions, 1, 'a')
      await login(store.sessions, 1, 'b')
      await login(store.sessions, 1, 'a')
      assert.deepEqual(await idsOf(store.sessions, 1), ['b', 'a'])
    },
  ],
  [
    'does not accept a read from before all sessions were ended',
    async ({ store }) => {
      await login(store.sessions, 1, 'a')
      const read = await store.sessions.read(1)
      await store.sessions.end(1)
      await login(store.sessions, 1, 'b')
      const late = await store.sessions.commit(1, read, { admit: newSession('c'), end: [] })
      assert.equal(late.committed, false)
    },
  ],
  [
    'adopts a session once, and returns the known one afterwards',
    async ({ store }) => {
      const first = await store.sessions.adopt(1, newSession('a'))
      assert.equal(first?.record.token, tokenOf('a'))
      assert.equal(first?.isNew, true, 'the call that registers a session must set isNew')
      const again = await store.sessions.adopt(1, { ...newSession('a'), ip: '198.51.100.9' })
      assert.ok(!again?.isNew, 'only the call that registers the session may set isNew')
      assert.deepEqual(again?.record, first?.record)
      assert.equal(again?.sessionId, 'a')
      assert.deepEqual(await idsOf(store.sessions, 1), ['a'])
    },
  ],
  [
    'does not adopt a session that has just been ended, individually or with others',
    async ({ store }) => {
      await login(store.sessions, 1, 'a')
      await login(store.sessions, 1, 'b', LONG, ['a'])
      await store.sessions.end(1)
      assert.equal(await store.sessions.adopt(1, newSession('a')), undefined)
      assert.equal(await store.sessions.adopt(1, newSession('b')), undefined)
      assert.deepEqual(await idsOf(store.sessions, 1), [])
    },
  ],
  [
    'keeps users apart, whatever their ids look like',
    async ({ store }) => {
      const users = ['a', 'a*', '*', 'a:b', '{a}', '}{', 'a b', 'ä', '__proto__', 'constructor', '0', '[a]', 'a\nb']
      for (const user of users) await login(store.sessions, user, `session of ${user}`)
      await store.sessions.end('*')
      for (const user of users) {
        assert.deepEqual(await idsOf(store.sessions, user), user === '*' ? [] : [`session of ${user}`])
      }
      assert.equal(await store.sessions.useOf('a', tokenOf('session of a:b')), undefined)
    },
  ],
  [
    'treats ids with the same string form as one user, and keeps the type of each',
    async ({ store }) => {
      await login(store.sessions, 2, 'a')
      await login(store.sessions, '2', 'b')
      const { sessions } = await store.sessions.read(2)
      assert.deepEqual(
        sessions.map(({ record }) => record.userId),
        [2, '2'],
      )
    },
  ],
]

/** The cases about ending all of a user's sessions, or all except one. */
export const endAllContract: readonly StoreCase[] = [
  [
    "ends all of a user's sessions, oldest first, and none the second time",
    async ({ store }) => {
      for (const id of ['a', 'b', 'c']) await login(store.sessions, 1, id)
      const ended = await store.sessions.end(1)
      assert.deepEqual(
        ended.map(({ sessionId }) => sessionId),
        ['a', 'b', 'c'],
      )
      assert.deepEqual(await store.sessions.end(1), [])
      assert.deepEqual(await idsOf(store.sessions, 1), [])
    },
  ],
  [
    'adopts no session of a user after all were ended, even if there were none, and accepts new logins',
    async ({ store, another }) => {
      const other = (await another()).sessions
      await login(store.sessions, 1, 'known')
      await store.sessions.end(1)
      await store.sessions.end(2)
      for (const user of [1, 2]) {
        assert.equal(await other.adopt(user, newSession('dormant')), undefined, 'an ended session came back')
        await login(other, user, 'new')
        assert.equal((await other.adopt(user, newSession('new')))?.sessionId, 'new', 'a known session was refused')
        assert.equal(await store.sessions.adopt(user, newSession('dormant')), undefined, 'a login removed the mark')
        assert.deepEqual(await idsOf(store.sessions, user), ['new'])
      }
      assert.ok(await store.sessions.adopt(3, newSession('dormant')), 'another user is also marked')
    },
  ],
  [
    'adopts a session of a user whose other sessions were ended by token',
    async ({ store }) => {
      await login(store.sessions, 1, 'a')
      await store.sessions.end(1, [tokenOf('a')])
      assert.ok(await store.sessions.adopt(1, newSession('dormant')))
    },
  ],
  [
    "ends all of a user's sessions except one, oldest first, and adopts none afterwards",
    async ({ store, another }) => {
      for (const id of ['a', 'kept', 'b']) await login(store.sessions, 1, id)
      await login(store.sessions, 2, 'of another user')
      const read = await store.sessions.read(1)
      const other = (await another()).sessions
      const ended = await other.endOthers(1, tokenOf('kept'))
      assert.deepEqual(
        ended?.map(({ sessionId }) => sessionId),
        ['a', 'b'],
      )
      assert.deepEqual(await idsOf(store.sessions, 1), ['kept'])
      const late = await store.sessions.commit(1, read, { admit: newSession('late'), end: [] })
      assert.equal(late.committed, false)
      assert.deepEqual(await store.sessions.endOthers(1, tokenOf('kept')), [])
      for (const id of ['a', 'b', 'dormant']) assert.equal(await store.sessions.adopt(1, newSession(id)), undefined)
      assert.equal((await store.sessions.adopt(1, newSession('kept')))?.sessionId, 'kept')
      assert.deepEqual(await idsOf(store.sessions, 2), ['of another user'])
    },
  ],
  [
    "ends nothing, and leaves no mark, if the session to keep is unknown, ended, expired or another user's",
    async ({ store: { sessions }, pass }) => {
      for (const id of ['a', 'ended']) await login(sessions, 1, id)
      await login(sessions, 1, 'short', SHORT)
      await login(sessions, 2, 'of another user')
      await sessions.end(1, [tokenOf('ended')])
      await pass(SHORT + 20)
      const read = await sessions.read(1)
      for (const id of ['unknown', 'ended', 'short', 'of another user']) {
        assert.equal(await sessions.endOthers(1, tokenOf(id)), undefined, `${id} was kept`)
      }
      assert.equal(await sessions.endOthers('nobody', tokenOf('a')), undefined)
      assert.deepEqual(await idsOf(sessions, 1), ['a'])
      const after = await sessions.read(1)
      assert.deepEqual([after.sessions, after.mark], [read.sessions, read.mark])
      assert.ok(await sessions.adopt(1, newSession('dormant')), 'a mark was left')
    },
  ],
  [
    'ends every earlier login, and no later one, when all other sessions end',
    async ({ store, another }) => {
      const other = (await another()).sessions
      await login(store.sessions, 1, 'kept')
      const logins = Array.from({ length: 20 }, async (_, index) => {
        for (;;) {
          const read = await other.read(1)
          const result = await other.commit(1, read, { admit: newSession(`s${index}`, LONG), end: [] })
          if (result.committed) return `s${index}`
        }
      })
      const ending = store.sessions.endOthers(1, tokenOf('kept'))
      const all = new Set(await Promise.all(logins))
      const ended = ((await ending) ?? []).map(({ sessionId }) => sessionId)
      const left = (await idsOf(store.sessions, 1)).filter((id) => id !== 'kept')
      assert.equal(ended.length + left.length, all.size)
      assert.deepEqual(new Set([...ended, ...left]), all)
      assert.ok((await idsOf(store.sessions, 1)).includes('kept'))
    },
  ],
  [
    'changes what else is stored about a user, one change after the other, and keeps it while sessions come and go',
    async ({ store, another }) => {
      const registries = [store.sessions, (await another()).sessions]
      const frequency = { count: 5, minutes: 10 }
      const counted = await Promise.all(
        Array.from({ length: 30 }, (_, index) => registries[index % 2]?.changeState(7, countUse(CODES, frequency))),
      )
      assert.equal(counted.filter((use) => use && use.until === undefined).length, 5)
      await login(store.sessions, 7, 'a')
      await login(store.sessions, 7, 'b')
      await store.sessions.touch(7, tokenOf('a'), LONG)
      await store.sessions.end(7, [tokenOf('b')])
      const isFull = async () => (await registries[1]?.changeState('7', nextUse(CODES, frequency))) !== undefined
      assert.equal(await isFull(), true)
      await store.sessions.erase(7)
      assert.equal(await isFull(), false)
    },
  ],
  [
    "keeps when a session's user has proved their identity, which only a login does by itself",
    async ({ store: { sessions }, another }) => {
      const other = (await another()).sessions
      const provedAt = async () => (await other.read(7)).sessions.map((session) => session.provedAt)
      await sessions.adopt(7, newSession('adopted'))
      const read = await sessions.read(7)
      await sessions.commit(7, read, { admit: { ...newSession('unproved'), provedAt: UNPROVED }, end: [] })
      await login(sessions, 7, 'a')
      assert.deepEqual(await provedAt(), [UNPROVED, UNPROVED, undefined])
      const prove: StateChange<number> = (user, now) => ({
        result: now,
        next: { sessions: user.sessions.map((session) => ({ ...session, provedAt: now })) },
      })
      await sessions.rotate(7, tokenOf('a'), 0, { graceMs: LONG, ttlMs: LONG })
      const at = await sessions.changeState(7, prove)
      await sessions.takeUp(7, tokenOf('a'))
      await sessions.touch(7, tokenOf('adopted'), LONG)
      assert.equal((await sessions.rotate(7, tokenOf('a'), 0, { graceMs: LONG, ttlMs: LONG }))?.outcome, 'repeated')
      assert.deepEqual(await provedAt(), [at, at, at])
      await login(sessions, 7, 'a')
      assert.deepEqual(await provedAt(), [at, at, undefined])
    },
  ],
  [
    'lets one of 30 concurrent calls take a waiting login, and removes it when all sessions end',
    async ({ store, another }) => {
      const registries = [store.sessions, (await another()).sessions]
      await store.sessions.changeState(7, openPending('one', LONG, 0))
      await store.sessions.changeState(7, openPending('other', LONG, 0))
      const take = changePending('one', (waiting) => ({ ...waiting, isTaken: true }))
      const found = await Promise.all(
        Array.from({ length: 30 }, (_, index) => registries[index % 2]?.changeState(7, take)),
      )
      assert.equal(found.filter((one) => one?.login.isTaken === false).length, 1)
      await login(store.sessions, 7, 'a')
      await registries[1]?.endOthers(7, tokenOf('a'))
      for (const name of ['one', 'other']) {
        assert.equal(await store.sessions.changeState(7, changePending(name)), undefined)
      }
    },
  ],
  [
    'tells by the mark that all sessions were ended, or all except one',
    async ({ store }) => {
      const markOf = async () => (await store.sessions.read(7)).mark
      const marks = [await markOf()]
      await login(store.sessions, 7, 'a')
      await store.sessions.end(7, [tokenOf('a')])
      assert.deepEqual([await markOf()], marks)
      for (const id of ['b', 'c']) {
        await login(store.sessions, 7, id)
        await store.sessions.endOthers(7, tokenOf(id))
        marks.push(await markOf())
        await store.sessions.end(7)
        marks.push(await markOf())
      }
      for (const [index, mark] of marks.entries()) if (index > 0) assert.notEqual(mark, marks[index - 1])
    },
  ],
]
