import assert from 'node:assert/strict'
import { tokenOf } from '../../sessions/token.ts'
import { idsOf, LONG, login, newSession, SHORT } from './registry-case.ts'
import type { StoreCase } from './store-case.ts'

/** Requirements on the expiry and the end of sessions. */
export const sessionLifeContract: readonly StoreCase[] = [
  [
    'forgets a session when it expires',
    async ({ store, pass }) => {
      await login(store.sessions, 1, 'short', SHORT)
      await login(store.sessions, 1, 'long')
      await pass(SHORT + 20)
      assert.equal(await store.sessions.generationOf(1, tokenOf('short')), undefined, 'the session is still live')
      assert.equal(await store.sessions.generationOf(1, tokenOf('long')), 0)
      assert.deepEqual(await idsOf(store.sessions, 1), ['long'])
      assert.equal(await store.sessions.touch(1, tokenOf('short'), LONG), false)
      assert.deepEqual(await store.sessions.end(1, [tokenOf('short')]), [])
      await login(store.sessions, 1, 'next')
      assert.equal(await store.sessions.generationOf(1, tokenOf('short')), undefined)
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
    'does not revive an ended session by using it',
    async ({ store }) => {
      await login(store.sessions, 1, 'a')
      await store.sessions.end(1, [tokenOf('a')])
      assert.equal(await store.sessions.touch(1, tokenOf('a'), LONG), false)
      assert.equal(await store.sessions.generationOf(1, tokenOf('a')), undefined)
    },
  ],
  [
    'moves a session to another generation, and keeps everything else, including its order',
    async ({ store }) => {
      await login(store.sessions, 1, 'a')
      await login(store.sessions, 1, 'b')
      const before = (await store.sessions.read(1)).sessions[0]?.record
      assert.equal(await store.sessions.restamp(1, tokenOf('a'), 37), true)
      const { sessions } = await store.sessions.read(1)
      assert.deepEqual(sessions[0]?.record, { ...before, generation: 37 })
      assert.equal(await store.sessions.generationOf(1, tokenOf('b')), 0)
      assert.equal(await store.sessions.restamp(1, tokenOf('unknown'), 37), false)
    },
  ],
  [
    'changes the version when a session moves to another generation, so that a concurrent login decides again',
    async ({ store, another }) => {
      await login(store.sessions, 1, 'a')
      const { version } = await store.sessions.read(1)
      await (await another()).sessions.restamp(1, tokenOf('a'), 37)
      const late = await store.sessions.commit(1, version, { admit: newSession('b'), end: [tokenOf('a')] })
      assert.deepEqual(late, { committed: false })
      assert.deepEqual(await idsOf(store.sessions, 1), ['a'])
      await login(store.sessions, 1, 'b')
    },
  ],
  [
    'moves a session to another generation only at the given version, so that an ended session is not revived',
    async ({ store, another }) => {
      await login(store.sessions, 1, 'a')
      const { version } = await store.sessions.read(1)
      await login((await another()).sessions, 1, 'b')
      assert.equal(await store.sessions.restamp(1, tokenOf('a'), 37, version), false)
      assert.equal(await store.sessions.generationOf(1, tokenOf('a')), 0)
      const current = await store.sessions.read(1)
      assert.equal(await store.sessions.restamp(1, tokenOf('a'), 37, current.version), true)
      assert.equal(await store.sessions.generationOf(1, tokenOf('a')), 37)
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
