import assert from 'node:assert/strict'
import type { CommitResult, SessionRegistry } from '../../sessions/session-registry.ts'
import { tokenOf } from '../../sessions/token.ts'
import { idsOf, LONG, login, newSession, SHORT } from './registry-case.ts'
import type { StoreCase } from './store-case.ts'

const OVER: CommitResult = { committed: false, isOver: true }

/** Registers a session that continues another one, at the current version, and ends the other one. */
async function goOn(registry: SessionRegistry, from: string, to: string, generation = 0): Promise<CommitResult> {
  const { version } = await registry.read(1)
  const admit = { ...newSession(to), generation }
  return registry.commit(1, version, { admit, end: [tokenOf(from)], continues: tokenOf(from) })
}

/** Requirements on logins that continue a session. An ended session must not continue. */
export const continuedLoginContract: readonly StoreCase[] = [
  [
    'registers a session that continues a live one, and ends the old one in the same step',
    async ({ store: { sessions } }) => {
      await login(sessions, 1, 'a')
      await login(sessions, 1, 'b')
      const result = await goOn(sessions, 'a', 'c')
      assert.ok(result.committed)
      assert.deepEqual(
        result.ended.map(({ sessionId }) => sessionId),
        ['a'],
      )
      assert.deepEqual(await idsOf(sessions, 1), ['b', 'c'])
    },
  ],
  [
    'changes nothing if the session to continue was ended, individually or with all others, or never existed',
    async ({ store: { sessions } }) => {
      await login(sessions, 1, 'a')
      await login(sessions, 1, 'b')
      await sessions.end(1, [tokenOf('a')])
      assert.deepEqual(await goOn(sessions, 'a', 'c'), OVER)
      assert.deepEqual(await idsOf(sessions, 1), ['b'])
      await sessions.end(1)
      assert.deepEqual(await goOn(sessions, 'b', 'c'), OVER)
      assert.deepEqual(await goOn(sessions, 'never', 'c'), OVER)
      assert.deepEqual(await idsOf(sessions, 1), [])
    },
  ],
  [
    'changes nothing if the session to continue belongs to another user',
    async ({ store: { sessions } }) => {
      await login(sessions, 2, 'of another user')
      assert.deepEqual(await goOn(sessions, 'of another user', 'c'), OVER)
      assert.deepEqual(await idsOf(sessions, 1), [])
    },
  ],
  [
    'changes nothing if the session to continue has expired',
    async ({ store: { sessions }, pass }) => {
      await login(sessions, 1, 'a', SHORT)
      await login(sessions, 1, 'b')
      await pass(SHORT + 20)
      assert.deepEqual(await goOn(sessions, 'a', 'c'), OVER)
      assert.deepEqual(await idsOf(sessions, 1), ['b'])
    },
  ],
  [
    'changes nothing if the session to continue is from an earlier generation',
    async ({ store: { sessions } }) => {
      await login(sessions, 1, 'a')
      await sessions.restamp(1, tokenOf('a'), 36)
      assert.deepEqual(await goOn(sessions, 'a', 'c', 37), OVER)
      assert.deepEqual(await idsOf(sessions, 1), ['a'])
      assert.ok((await goOn(sessions, 'a', 'c', 36)).committed)
    },
  ],
  [
    'registers exactly one of many logins that continue the same session, whatever the version',
    async ({ store, another }) => {
      const other = await another()
      await login(store.sessions, 1, 'a')
      const { version } = await store.sessions.read(1)
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) => {
          const change = { admit: newSession(`s${index}`, LONG), end: [tokenOf('a')], continues: tokenOf('a') }
          return (index % 2 ? store : other).sessions.commit(1, version, change)
        }),
      )
      assert.equal(results.filter(({ committed }) => committed).length, 1)
      assert.deepEqual(
        results.filter(({ committed }) => !committed),
        Array(19).fill(OVER),
      )
    },
  ],
]
