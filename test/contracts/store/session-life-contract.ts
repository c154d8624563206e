import assert from 'node:assert/strict'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { idsOf, LONG, login, newSession, passMinutes, SHORT, type StoreCase } from './store-case.ts'

/** How far a store's clock is ahead for a while. */
const JUMP = 600_000
/** How much longer than its lifetime a session may last after a clock was wrong. */
const TOLERANCE = 10_000

/** The cases about the expiry and the end of sessions. */
export const sessionLifeContract: readonly StoreCase[] = [
  [
    'forgets a session when it expires',
    async ({ store, pass }) => {
      await login(store.sessions, 1, 'short', SHORT)
      await login(store.sessions, 1, 'long')
      await pass(SHORT + 20)
      assert.equal(await store.sessions.useOf(1, tokenOf('short')), undefined, 'the session is still live')
      assert.equal((await store.sessions.useOf(1, tokenOf('long')))?.generation, 0)
      assert.deepEqual(await idsOf(store.sessions, 1), ['long'])
      assert.equal(await store.sessions.touch(1, tokenOf('short'), LONG), false)
      assert.deepEqual(await store.sessions.end(1, [tokenOf('short')]), [])
      await login(store.sessions, 1, 'next')
      assert.equal(await store.sessions.useOf(1, tokenOf('short')), undefined)
    },
  ],
  [
    'postpones the expiry when a session is used, and records when that was',
    async ({ store, pass }) => {
      await login(store.sessions, 1, 'a', SHORT)
      assert.equal(await store.sessions.touch(1, tokenOf('a'), LONG), true)
      await pass(SHORT + 20)
      assert.equal(await store.sessions.touch(1, tokenOf('a'), LONG), true)
      const record = (await store.sessions.read(1)).sessions[0]?.record
      assert.ok(record && record.lastSeenAt >= record.createdAt + SHORT)
      assert.equal(record.expiresAt, record.lastSeenAt + LONG)
    },
  ],
  [
    "reads a session's last use",
    async ({ store, pass }) => {
      const { sessions } = store
      await login(sessions, 1, 'a', LONG)
      await login(sessions, 1, 'b', LONG)
      await pass(30)
      const use = await sessions.useOf(1, tokenOf('a'))
      // The clock of the store may count whole milliseconds.
      assert.ok(use && performance.now() - use.usedAt >= 28, 'the use counts as newer than it is')
      assert.deepEqual([use.generation, use.ttlMs], [0, LONG])
      assert.equal(await sessions.useOf(1, tokenOf('c')), undefined)
    },
  ],
  [
    'registers sessions with the right life and order after the clock was ahead for a moment',
    async ({ store, another, pass, rewind }) => {
      if (!rewind) return
      const before = (await login(store.sessions, 2, 'before')).admitted.record
      await passMinutes(pass, JUMP)
      await login(store.sessions, 1, 'ahead')
      const read = await store.sessions.read(1)
      await rewind(JUMP)
      // Use another process: each may rely on its estimate of the store's clock for a minute.
      const { sessions } = await another()
      const { record } = (await login(sessions, 1, 'later', SHORT)).admitted
      assert.ok(record.createdAt < before.createdAt + JUMP / 2, 'a session is registered at a time in the future')
      assert.equal(record.expiresAt, record.createdAt + SHORT, 'a session is registered with the wrong life')
      const found = await sessions.read(1)
      assert.deepEqual(
        found.sessions.map(({ sessionId }) => sessionId),
        ['ahead', 'later'],
      )
      const late = await sessions.commit(1, read, { admit: newSession('c'), end: [] })
      assert.deepEqual(late, { committed: false })
      await pass(SHORT + TOLERANCE)
      assert.equal(
        await (await another()).sessions.useOf(1, tokenOf('later')),
        undefined,
        'a session outlives its life',
      )
    },
    'minutes',
  ],
  [
    'does not let a session live longer because the clock was ahead for a moment',
    async ({ store, another, pass, rewind }) => {
      if (!rewind) return
      await login(store.sessions, 1, 'used', LONG + JUMP)
      await passMinutes(pass, JUMP)
      await login(store.sessions, 1, 'ahead')
      assert.equal(await store.sessions.touch(1, tokenOf('used'), LONG), true)
      await rewind(JUMP)
      assert.deepEqual(await idsOf((await another()).sessions, 1), ['used', 'ahead'])
      await pass(LONG + TOLERANCE)
      assert.deepEqual(await idsOf((await another()).sessions, 1), [], 'the jump prolonged a session')
    },
    'minutes',
  ],
  [
    'does not revive an ended session by using it',
    async ({ store }) => {
      await login(store.sessions, 1, 'a')
      await store.sessions.end(1, [tokenOf('a')])
      assert.equal(await store.sessions.touch(1, tokenOf('a'), LONG), false)
      assert.equal(await store.sessions.useOf(1, tokenOf('a')), undefined)
    },
  ],
  [
    'ends only the given sessions, and none if the list is empty',
    async ({ store }) => {
      for (const id of ['a', 'b', 'c']) await login(store.sessions, 1, id)
      assert.deepEqual(await store.sessions.end(1, []), [])
      const ended = await store.sessions.end(1, [tokenOf('c'), tokenOf('a'), tokenOf('x')])
      assert.deepEqual(
        ended.map(({ sessionId }) => sessionId),
        ['a', 'c'],
      )
      assert.deepEqual(await idsOf(store.sessions, 1), ['b'])
    },
  ],
  [
    'reports an ended session to exactly one of many concurrent calls',
    async ({ store, another }) => {
      const other = await another()
      await login(store.sessions, 1, 'a')
      const results = await Promise.all(
        Array.from({ length: 40 }, (_, index) => (index % 2 ? store : other).sessions.end(1, [tokenOf('a')])),
      )
      assert.equal(results.flat().length, 1)
    },
  ],
]

const LIFE = 10 * LONG
const ROUNDS = 20

/** The cases about logins that end unused sessions. */
export const unusedSessionContract: readonly StoreCase[] = [
  [
    "returns its time with a user's sessions, and never a later one",
    async ({ store: { sessions }, another, pass }) => {
      await login(sessions, 1, 'a')
      const { now } = await sessions.read(1)
      await sessions.touch(1, tokenOf('a'), LONG)
      const { sessions: [used] = [] } = await sessions.read(1)
      assert.ok(used && now <= used.record.lastSeenAt, 'the returned time is later than the current time')
      await pass(SHORT)
      const later = await (await another()).sessions.read(1)
      assert.ok(later.now >= now + SHORT / 2, 'the returned time does not move')
    },
  ],
  [
    'either records the use of a session or ends it, when both happen at once',
    async ({ store: { sessions }, another, pass }) => {
      const other = (await another()).sessions
      const users = Array.from({ length: ROUNDS }, (_, index) => index)
      for (const user of users) await login(sessions, user, 'a', LIFE)
      await passMinutes(pass, LONG)
      const results = await Promise.all(
        users.flatMap((user) => {
          const ending = login(sessions, user, 'new', LIFE, ['a']).catch(() => ({ committed: false }))
          return Promise.all([ending, other.touch(user, tokenOf('a'), LIFE)])
        }),
      )
      for (const [{ committed }, isRecorded] of results) {
        assert.equal(isRecorded, !committed, committed ? 'it was ended despite its use' : 'neither happened')
      }
    },
    'minutes',
  ],
]

const MEMORY_COUNT = 32
const MEMORY_MS = 10 * 60_000
/** Keeps the test within ten minutes for any store, even with slow calls. */
const MARGIN_MS = 5_000

/** The cases about remembering ended sessions, so that a late request cannot bring one back. */
export const endedMemoryContract: readonly StoreCase[] = [
  [
    'does not adopt the last 32 sessions that ended, but adopts one that ended before them',
    async ({ store, another, pass }) => {
      const { sessions } = await another()
      await login(sessions, 2, 'of another user')
      await sessions.end(2, [tokenOf('of another user')])
      const later = Array.from({ length: MEMORY_COUNT }, (_, index) => `s${index}`)
      // The session that ends first was admitted last, to show that the order of endings counts.
      for (const id of [...later, 'ended first']) await login(sessions, 1, id)
      await sessions.end(1, [tokenOf('ended first')])
      await pass(20)
      await sessions.end(1, later.map(tokenOf))
      for (const id of later) assert.equal(await store.sessions.adopt(1, newSession(id)), undefined, `${id} came back`)
      const adopted = await store.sessions.adopt(1, newSession('ended first'))
      assert.equal(adopted?.sessionId, 'ended first', 'more than 32 ended sessions are remembered')
      assert.equal(await store.sessions.adopt(2, newSession('of another user')), undefined)
    },
  ],
  [
    'does not adopt an ended session for ten minutes, but adopts it afterwards',
    async ({ store: { sessions }, pass }) => {
      await login(sessions, 1, 'a')
      await sessions.end(1, [tokenOf('a')])
      await passMinutes(pass, MEMORY_MS - MARGIN_MS)
      assert.equal(await sessions.adopt(1, newSession('a')), undefined)
      await pass(MARGIN_MS)
      assert.equal((await sessions.adopt(1, newSession('a')))?.sessionId, 'a', 'its end is remembered for too long')
      assert.deepEqual(await idsOf(sessions, 1), ['a'])
    },
    'minutes',
  ],
]
