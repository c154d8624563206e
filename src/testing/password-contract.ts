import assert from 'node:assert/strict'
import type { StoreCase } from './store-contract.ts'

const password = (id: string, createdAt: number) => ({ id, name: `named ${id} ü`, hash: 'ab'.repeat(32), createdAt })

/** What every store of application passwords must do. */
export const passwordContract: readonly StoreCase[] = [
  [
    'has none for an unknown user',
    async ({ store }) => {
      assert.deepEqual(await store.passwords.list(1), [])
      assert.equal(await store.passwords.remove(1, 'x'), false)
    },
  ],
  [
    'keeps passwords of each user apart, oldest first, for everybody',
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
    'removes one by one',
    async ({ store }) => {
      await store.passwords.add(1, password('a', 1))
      await store.passwords.add(1, password('b', 2))
      assert.equal(await store.passwords.remove(1, 'a'), true)
      assert.equal(await store.passwords.remove(1, 'a'), false)
      assert.deepEqual(await store.passwords.list(1), [password('b', 2)])
    },
  ],
  [
    'loses none of many that are added at once',
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
