import assert from 'node:assert/strict'
import { tokenOf } from '../../sessions/token.ts'
import { idsOf, login, newSession } from './registry-case.ts'
import { passMinutes, type StoreCase } from './store-case.ts'

const MEMORY_COUNT = 32
const MEMORY_MS = 10 * 60_000
/** Keeps the test within ten minutes for any store, even with slow calls. */
const MARGIN_MS = 5_000

/** Requirements on remembering ended sessions, so that a late request cannot bring one back. */
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
      const { version } = await store.sessions.read(1)
      for (const id of later) assert.equal(await store.sessions.adopt(1, newSession(id)), undefined, `${id} came back`)
      assert.equal((await store.sessions.read(1)).version, version)
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
