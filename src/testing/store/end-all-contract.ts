import assert from 'node:assert/strict'
import { tokenOf } from '../../sessions/token.ts'
import { idsOf, LONG, login, newSession, SHORT } from './registry-case.ts'
import type { StoreCase } from './store-case.ts'

/** Requirements on ending all of a user's sessions, or all except one. */
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
      const { version } = await store.sessions.read(1)
      const other = (await another()).sessions
      const ended = await other.endOthers(1, tokenOf('kept'))
      assert.deepEqual(
        ended?.map(({ sessionId }) => sessionId),
        ['a', 'b'],
      )
      assert.deepEqual(await idsOf(store.sessions, 1), ['kept'])
      assert.notEqual((await store.sessions.read(1)).version, version)
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
      const { version } = await sessions.read(1)
      for (const id of ['unknown', 'ended', 'short', 'of another user']) {
        assert.equal(await sessions.endOthers(1, tokenOf(id)), undefined, `${id} was kept`)
      }
      assert.equal(await sessions.endOthers('nobody', tokenOf('a')), undefined)
      assert.equal((await sessions.read(1)).version, version)
      assert.deepEqual(await idsOf(sessions, 1), ['a'])
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
          const { version } = await other.read(1)
          const result = await other.commit(1, version, { admit: newSession(`s${index}`, LONG), end: [] })
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
]
