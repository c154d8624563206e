import assert from 'node:assert/strict'
import type { UserId } from '../../../src/ground/user-id.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import type { Rotation, SessionRegistry } from '../../../src/sessions/session-registry.ts'
import {
  idsOf,
  LONG,
  login,
  newSession,
  passMinutes,
  SHORT,
  type StoreCase,
  type StoreUnderTest,
} from './store-case.ts'

/** How far the clock jumps in the case about a clock that was wrong. */
const JUMP = 240_000
const GRACE = 30_000

type Rotate = (
  presented: number,
  graceMs?: number,
  sessionId?: string,
  userId?: UserId,
) => Promise<Rotation | undefined>

/** Creates a case about `rotate`. */
function rotationCase(
  name: string,
  body: (rotate: Rotate, test: StoreUnderTest, other: Rotate) => Promise<void>,
  lasts?: 'minutes',
): StoreCase {
  const on =
    (sessions: SessionRegistry): Rotate =>
    async (presented, graceMs = GRACE, sessionId = 'a', userId = 1) =>
      sessions.rotate(userId, tokenOf(sessionId), presented, { graceMs, ttlMs: LONG })
  const run = async (test: StoreUnderTest) => {
    await login(test.store.sessions, 1, 'a')
    await body(on(test.store.sessions), test, on((await test.another()).sessions))
  }
  return lasts ? [name, run, lasts] : [name, run]
}

/** Returns the outcome and the number of a rotation. */
const short = (rotation: Rotation | undefined) => rotation && [rotation.outcome, rotation.number]

/** The cases about the rotation of refresh tokens. */
export const rotationContract: readonly StoreCase[] = [
  rotationCase('rotates the current token, and repeats the answer for the one before', async (rotate, _, other) => {
    const first = await rotate(0)
    assert.deepEqual(short(first), ['rotated', 1])
    assert.deepEqual(await other(0), { ...first, outcome: 'repeated' })
    assert.deepEqual(short(await other(1)), ['rotated', 2])
    assert.deepEqual(short(await rotate(1)), ['repeated', 2])
  }),
  rotationCase('repeats every token of a burst, and none from before it', async (rotate, { pass }, other) => {
    for (const presented of [0, 1, 2]) assert.deepEqual(short(await rotate(presented)), ['rotated', presented + 1])
    for (const presented of [0, 1, 2]) assert.deepEqual(short(await other(presented)), ['repeated', 3])
    await pass(SHORT)
    const grace = SHORT * 2
    for (const presented of [3, 4, 5]) assert.equal((await other(presented, grace))?.outcome, 'rotated')
    for (const presented of [3, 4, 5]) assert.deepEqual(short(await rotate(presented, grace)), ['repeated', 6])
    assert.deepEqual(short(await rotate(2, SHORT - 1)), ['reused', 6])
    assert.deepEqual(short(await rotate(0, LONG)), ['repeated', 6], 'an earlier burst was forgotten')
  }),
  rotationCase(
    'repeats each token for at least half the grace period, and never beyond its end',
    async (rotate, test) => {
      const [grace, half] = [SHORT * 2, SHORT]
      const step = Math.ceil(half / 4)
      const used: number[] = []
      for (let number = 0; number < 12; number++) {
        const from = performance.now()
        assert.deepEqual(short(await rotate(number, grace)), ['rotated', number + 1])
        used.push(from)
        // This token was used less than half the period ago, so it is repeated, even if others were used since.
        if (number > 1 && performance.now() - (used[number - 2] ?? 0) < half) {
          assert.deepEqual(short(await rotate(number - 2, grace)), ['repeated', number + 1])
        }
        await test.pass(step)
      }
      await test.pass(grace)
      for (let number = 0; number < 12; number++) assert.equal((await rotate(number, grace))?.outcome, 'reused')
    },
  ),
  rotationCase('keeps the place and the order, and counts as a use', async (rotate, { store, pass }) => {
    await login(store.sessions, 1, 'b')
    const before = await store.sessions.read(1)
    await pass(SHORT)
    const rotation = await rotate(0)
    const after = await store.sessions.read(1)
    const [one, two] = [before, after].map(({ sessions }) => sessions[0]?.record)
    assert.deepEqual(await idsOf(store.sessions, 1), ['a', 'b'])
    assert.ok(one && two && two.lastSeenAt > one.lastSeenAt, 'the session was not used')
    assert.deepEqual([two.createdAt, two.sequence, two.ip], [one.createdAt, one.sequence, one.ip])
    assert.equal(rotation?.at, two.lastSeenAt)
    assert.ok(Math.abs(two.expiresAt - two.lastSeenAt - LONG) < 10, 'the expiry was not postponed')
  }),
  rotationCase('changes nothing if a token is repeated or reused', async (rotate, { store }) => {
    await rotate(0)
    await rotate(1)
    const { sessions } = await store.sessions.read(1)
    assert.deepEqual(short(await rotate(1)), ['repeated', 2])
    assert.deepEqual(short(await rotate(0)), ['repeated', 2])
    assert.deepEqual(short(await rotate(0, 0)), ['reused', 2])
    assert.deepEqual((await store.sessions.read(1)).sessions, sessions)
    assert.deepEqual(short(await rotate(2)), ['rotated', 3])
  }),
  rotationCase('repeats nothing after the grace period, or without one', async (rotate, { pass }) => {
    await rotate(0)
    assert.deepEqual(short(await rotate(0, 0)), ['reused', 1])
    await pass(SHORT)
    assert.deepEqual(short(await rotate(0, SHORT - 1)), ['reused', 1])
    assert.deepEqual(short(await rotate(0, LONG)), ['repeated', 1])
  }),
  rotationCase('rotates once if the same token is presented many times at once', async (rotate, { store }, other) => {
    const all = await Promise.all(Array.from({ length: 50 }, (_, index) => (index % 2 ? rotate : other)(0)))
    assert.equal(all.filter((one) => one?.outcome === 'rotated').length, 1)
    assert.deepEqual(new Set(all.map((one) => `${one?.number} ${one?.at}`)).size, 1)
    assert.deepEqual(await idsOf(store.sessions, 1), ['a'])
  }),
  rotationCase('accepts a later token, whose rotation the store has lost', async (rotate) => {
    assert.deepEqual(short(await rotate(7)), ['rotated', 8])
    assert.deepEqual(short(await rotate(7)), ['repeated', 8])
    assert.deepEqual(short(await rotate(6)), ['reused', 8])
    const most = Number.MAX_SAFE_INTEGER - 1
    assert.deepEqual(short(await rotate(most)), ['rotated', most + 1])
    assert.deepEqual(short(await rotate(most)), ['repeated', most + 1])
    assert.deepEqual(short(await rotate(6)), ['reused', most + 1])
  }),
  rotationCase(
    'rotates nothing that is unknown, ended, expired or of another user',
    async (rotate, { store, pass }) => {
      const { sessions } = store
      await login(sessions, 1, 'short', SHORT)
      await login(sessions, 2, 'of another user')
      assert.equal(await rotate(0, GRACE, 'unknown'), undefined)
      assert.equal(await rotate(0, GRACE, 'a', 'nobody'), undefined)
      assert.equal(await rotate(0, GRACE, 'of another user'), undefined)
      await sessions.end(1, [tokenOf('a')])
      await pass(SHORT + 20)
      for (const id of ['a', 'short']) assert.equal(await rotate(0, GRACE, id), undefined, id)
      assert.deepEqual(await idsOf(sessions, 1), [])
      assert.deepEqual(short(await rotate(0, GRACE, 'of another user', 2)), ['rotated', 1])
    },
  ),
  rotationCase('forgets the number when a session ends or is registered again', async (rotate, { store }) => {
    const { sessions } = store
    await rotate(4)
    await login(sessions, 1, 'a')
    assert.deepEqual(short(await rotate(0)), ['rotated', 1], 'a registration kept the number')
    await rotate(4)
    await sessions.end(1)
    await login(sessions, 1, 'a')
    assert.deepEqual(short(await rotate(0)), ['rotated', 1], 'an end kept the number')
  }),
  rotationCase('keeps the expiry of a session that is used without a new one', async (rotate, { store, pass }) => {
    const { sessions } = store
    await rotate(0)
    const [before] = (await sessions.read(1)).sessions
    await pass(SHORT)
    assert.equal(await sessions.touch(1, tokenOf('a'), undefined), true)
    const [used] = (await sessions.read(1)).sessions
    assert.ok(before && used && used.record.lastSeenAt >= before.record.lastSeenAt + SHORT)
    assert.equal(used.record.expiresAt, before.record.expiresAt)
    assert.equal(await sessions.touch(1, tokenOf('a'), undefined, LONG), true)
    assert.deepEqual((await sessions.read(1)).sessions, [used])
    assert.equal(await sessions.touch(1, tokenOf('b'), undefined), false)
    assert.deepEqual(short(await rotate(0, LONG)), ['repeated', 1])
  }),
  rotationCase('keeps the number through uses, other logins and their ends', async (rotate, { store }, other) => {
    const { sessions } = store
    await rotate(2)
    await sessions.touch(1, tokenOf('a'), LONG)
    await login(sessions, 1, 'b')
    await login(sessions, 1, 'c', LONG, ['b'])
    await sessions.endOthers(1, tokenOf('a'))
    assert.equal((await sessions.adopt(1, newSession('a')))?.isNew, undefined)
    assert.deepEqual(short(await other(2)), ['repeated', 3])
  }),
  rotationCase(
    'does not repeat a token for longer because the clock was ahead for a moment',
    async (rotate, { another, pass, rewind }) => {
      if (!rewind) return
      await passMinutes(pass, JUMP)
      const { sessions } = await another()
      const life = { graceMs: GRACE, ttlMs: LONG + JUMP }
      await login(sessions, 1, 'b')
      assert.equal((await sessions.rotate(1, tokenOf('b'), 0, life))?.outcome, 'rotated')
      await rewind(JUMP)
      assert.equal((await rotate(0, GRACE, 'b'))?.outcome, 'repeated')
      await pass(GRACE + 1)
      assert.equal((await rotate(0, GRACE, 'b'))?.outcome, 'reused', 'the jump prolonged the grace period')
    },
    'minutes',
  ),
]
