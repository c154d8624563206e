import assert from 'node:assert/strict'
import type { StoreCase } from './store-case.ts'

const HASH = 'ab'.repeat(32)
const OTHER = 'cd'.repeat(32)
const password = (id: string, createdAt: number, hash = HASH) => ({ id, name: `named ${id} ü`, hash, createdAt })

/** Requirements on stores of application passwords. */
export const passwordContract: readonly StoreCase[] = [
  [
    'has no passwords for an unknown user',
    async ({ store }) => {
      assert.deepEqual(await store.passwords.list(1), [])
      assert.equal(await store.passwords.has(1, HASH), false)
      assert.equal(await store.passwords.remove(1, 'x'), false)
    },
  ],
  [
    "lists each user's passwords, oldest first, on every connection",
    async ({ store, another }) => {
      await store.passwords.add(1, password('b', 1))
      await store.passwords.add('1', password('a', 2))
      await store.passwords.add(2, password('c', 3))
      const other = (await another()).passwords
      assert.deepEqual(await other.list(1), [password('b', 1), password('a', 2)])
      assert.deepEqual(await other.list(2), [password('c', 3)])
    },
  ],
  [
    'removes one password at a time',
    async ({ store }) => {
      await store.passwords.add(1, password('a', 1))
      await store.passwords.add(1, password('b', 2))
      assert.equal(await store.passwords.remove(1, 'a'), true)
      assert.equal(await store.passwords.remove(1, 'a'), false)
      assert.deepEqual(await store.passwords.list(1), [password('b', 2)])
    },
  ],
  [
    'finds a password by its hash, but only for its own user',
    async ({ store, another }) => {
      await store.passwords.add(1, password('a', 1))
      await store.passwords.add(1, password('b', 2, OTHER))
      const other = (await another()).passwords
      assert.equal(await other.has('1', HASH), true)
      assert.equal(await other.has(1, OTHER), true)
      assert.equal(await other.has(1, 'ef'.repeat(32)), false)
      assert.equal(await other.has(1, ''), false)
      assert.equal(await other.has(2, HASH), false)
    },
  ],
  [
    'does not find removed or replaced passwords, but finds one that still exists under another id',
    async ({ store }) => {
      for (const id of ['a', 'b']) await store.passwords.add(1, password(id, 1))
      assert.equal(await store.passwords.remove(1, 'a'), true)
      assert.equal(await store.passwords.has(1, HASH), true, 'it still exists under the id b')
      await store.passwords.add(1, password('b', 2, OTHER))
      assert.deepEqual(await store.passwords.list(1), [password('b', 2, OTHER)])
      assert.equal(await store.passwords.has(1, HASH), false, 'it was replaced')
      assert.equal(await store.passwords.has(1, OTHER), true)
      assert.equal(await store.passwords.remove(1, 'b'), true)
      assert.equal(await store.passwords.has(1, OTHER), false, 'it was removed')
      assert.deepEqual(await store.passwords.list(1), [])
    },
  ],
  [
    'loses none of many passwords that are added concurrently',
    async ({ store, another }) => {
      const other = await another()
      await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          (index % 2 ? store : other).passwords.add(1, password(`p${index}`, index)),
        ),
      )
      assert.equal((await store.passwords.list(1)).length, 30)
    },
  ],
]
