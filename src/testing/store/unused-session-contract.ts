import assert from 'node:assert/strict'
import type { SessionRegistry } from '../../sessions/session-registry.ts'
import { type Token, tokenOf } from '../../sessions/token.ts'
import { idsOf, LONG, login, newSession, SHORT } from './registry-case.ts'
import { passMinutes, type StoreCase, type StoreUnderTest } from './store-case.ts'

const LIFE = 10 * LONG
const ROUNDS = 20

/** Requirements on logins that end unused sessions. They apply to registries that return the time of a read. */
export const unusedSessionContract: readonly StoreCase[] = [
  [
    "returns its time with a user's sessions, and never a later one",
    whereTimeIsKnown(async ({ store: { sessions }, another, pass }) => {
      await login(sessions, 1, 'a')
      const { now = 0 } = await sessions.read(1)
      await sessions.touch(1, tokenOf('a'), LONG)
      const { sessions: [used] = [] } = await sessions.read(1)
      assert.ok(used && now <= used.record.lastSeenAt, 'the returned time is later than the current time')
      await pass(SHORT)
      const later = await (await another()).sessions.read(1)
      assert.ok(Number(later.now) >= now + SHORT / 2, 'the returned time does not move')
    }),
  ],
  [
    'changes nothing if a session that must be unused was used more recently',
    whereTimeIsKnown(async ({ store: { sessions }, another, pass }) => {
      for (const id of ['used', 'unused']) await login(sessions, 1, id, LIFE)
      await passMinutes(pass, LONG)
      await (await another()).sessions.touch(1, tokenOf('used'), LIFE)
      const both = [tokenOf('unused'), tokenOf('used')]
      assert.deepEqual(await endUnused(sessions, both, LONG), { committed: false })
      assert.deepEqual(await idsOf(sessions, 1), ['used', 'unused'])
    }),
    'minutes',
  ],
  [
    'ends sessions that have been unused for long enough, and ignores unknown ones',
    whereTimeIsKnown(async ({ store: { sessions }, pass }) => {
      for (const id of ['a', 'b']) await login(sessions, 1, id)
      await pass(SHORT + 20)
      await sessions.touch(1, tokenOf('b'), LONG)
      const result = await endUnused(sessions, [tokenOf('a'), tokenOf('unknown')], SHORT)
      assert.ok(result.committed, 'the session was unused for long enough')
      assert.deepEqual(
        result.ended.map(({ sessionId }) => sessionId),
        ['a'],
      )
      assert.deepEqual(await idsOf(sessions, 1), ['b', 'new'])
    }),
  ],
  [
    'either records the use of a session or ends it as unused, when both happen at once',
    whereTimeIsKnown(async ({ store: { sessions }, another, pass }) => {
      const other = (await another()).sessions
      const users = Array.from({ length: ROUNDS }, (_, index) => index)
      for (const user of users) await login(sessions, user, 'a', LIFE)
      await passMinutes(pass, LONG)
      const results = await Promise.all(
        users.flatMap((user) => {
          const ending = endUnused(sessions, [tokenOf('a')], LONG, user)
          return Promise.all([ending, other.touch(user, tokenOf('a'), LIFE)])
        }),
      )
      for (const [{ committed }, isRecorded] of results) {
        assert.equal(isRecorded, !committed, committed ? 'it was ended despite its use' : 'neither happened')
      }
    }),
    'minutes',
  ],
]

/** Registers a session that ends others if they are unused. */
async function endUnused(registry: SessionRegistry, tokens: readonly Token[], ms: number, userId = 1) {
  const { version } = await registry.read(userId)
  return registry.commit(userId, version, { admit: newSession('new'), end: tokens, unlessUsedWithin: { tokens, ms } })
}

function whereTimeIsKnown(body: StoreCase[1]): StoreCase[1] {
  return async (test: StoreUnderTest) => {
    const { now } = await test.store.sessions.read(1)
    if (now !== undefined) await body(test)
  }
}
