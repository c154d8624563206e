import assert from 'node:assert/strict'
import type { StoreCase } from './store-case.ts'

/** Requirements on transient stores. */
export const transientContract: readonly StoreCase[] = [
  [
    'returns undefined for a key that was never stored',
    async ({ store }) => {
      assert.equal(await store.transients.get('nothing'), undefined)
      assert.equal(await store.transients.generation('nothing'), 0)
    },
  ],
  [
    'returns what was stored under a key, on every connection',
    async ({ store, another }) => {
      await store.transients.set('a', '<!-- ünï -->\n"', 60_000)
      await store.transients.set('b', '', 60_000)
      const other = (await another()).transients
      assert.equal(await other.get('a'), '<!-- ünï -->\n"')
      assert.equal(await other.get('b'), '')
    },
  ],
  [
    'replaces an earlier value',
    async ({ store }) => {
      await store.transients.set('a', '1', 60_000)
      await store.transients.set('a', '2', 60_000)
      assert.equal(await store.transients.get('a'), '2')
    },
  ],
  [
    'forgets a value when it expires',
    async ({ store, pass }) => {
      await store.transients.set('a', '1', 50)
      await pass(80)
      assert.equal(await store.transients.get('a'), undefined)
    },
  ],
  [
    'returns a string to exactly one of 50 concurrent takes, and deletes it',
    async ({ store, another }) => {
      const stores = [store.transients, (await another()).transients]
      // Optional, because only `limiter.choice()` needs it.
      if (!store.transients.take) return
      await store.transients.set('a', '', 60_000)
      await store.transients.set('b', 'left', 60_000)
      const taken = await Promise.all(Array.from({ length: 50 }, (_, index) => stores[index % 2]?.take?.('a')))
      assert.deepEqual(
        taken.filter((value) => value !== undefined),
        [''],
      )
      assert.equal(await store.transients.get('a'), undefined)
      assert.equal(await store.transients.get('b'), 'left')
      await store.transients.set('a', 'again', 60_000)
      assert.equal(await store.transients.take('a'), 'again')
      assert.equal(await store.transients.take('never stored'), undefined)
    },
  ],
  [
    'takes nothing that has expired',
    async ({ store, pass }) => {
      if (!store.transients.take) return
      await store.transients.set('a', '1', 50)
      await pass(80)
      assert.equal(await store.transients.take('a'), undefined)
    },
  ],
  [
    'counts the generations of each group, even with concurrent calls',
    async ({ store, another }) => {
      const other = (await another()).transients
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? store.transients : other).advance('comments')),
      )
      assert.equal(await other.generation('comments'), 20)
      assert.equal(await other.generation('others'), 0)
      assert.equal(await store.transients.advance('comments'), 21)
    },
  ],
]
