import assert from 'node:assert/strict'
import { tokenOf } from '../../sessions/token.ts'
import { idsOf, login, newSession } from './registry-case.ts'
import type { StoreCase } from './store-case.ts'

/** Requirements on wiping a store. */
export const wipeContract: readonly StoreCase[] = [
  [
    'forgets every session, live or ended, and every site-wide logout',
    async ({ store, another }) => {
      const other = await another()
      await login(store.sessions, 1, 'live')
      await login(other.sessions, 'ä', 'ended')
      await store.sessions.end('ä')
      await store.epoch.advance()
      await other.wipe()
      assert.deepEqual(await idsOf(store.sessions, 1), [])
      assert.equal(await store.sessions.generationOf(1, tokenOf('live')), undefined)
      assert.ok(await store.sessions.adopt('ä', newSession('ended')), 'the ended session is still remembered')
      assert.equal(await store.epoch.current(), 0)
    },
  ],
  [
    'forgets every option, application password and transient',
    async ({ store, another }) => {
      const other = await another()
      await store.options.set('one', 1)
      await other.options.set('two', 2)
      await store.passwords.add(1, { id: 'a', name: 'a', hash: 'ab'.repeat(32), createdAt: 1 })
      await store.transients.set('text', 'kept', 60_000)
      await store.transients.advance('group')
      await other.wipe()
      assert.equal(await store.options.get('one'), undefined)
      assert.equal(await store.options.get('two'), undefined)
      assert.deepEqual(await store.passwords.list(1), [])
      assert.equal(await store.transients.get('text'), undefined)
      assert.equal(await store.transients.generation('group'), 0)
    },
  ],
  [
    'continues to work as an empty store',
    async ({ store }) => {
      await store.wipe()
      await login(store.sessions, 1, 'a')
      await store.options.set('thing', 1)
      await store.wipe()
      await login(store.sessions, 1, 'b')
      assert.deepEqual(await idsOf(store.sessions, 1), ['b'])
      assert.equal(await store.options.swap('thing', undefined, 2), true)
      assert.equal((await store.epoch.advance()).generation, 1)
    },
  ],
]
