import assert from 'node:assert/strict'
import type { StoreCase } from './store-case.ts'

/** Requirements on option stores. */
export const optionContract: readonly StoreCase[] = [
  [
    'returns undefined for an option that was never written',
    async ({ store }) => {
      assert.equal(await store.options.get('nothing'), undefined)
      assert.equal(await store.options.get('__proto__'), undefined)
    },
  ],
  [
    'returns what was written on every connection',
    async ({ store, another }) => {
      const value = { list: [1, 'two', null, true], text: 'ünï"\n', nested: { __proto__x: 1 } }
      await store.options.set('thing', value)
      assert.deepEqual((await (await another()).options.get('thing'))?.value, value)
    },
  ],
  [
    'changes the revision with every write, even of an equal value',
    async ({ store }) => {
      const revisions = new Set<string | undefined>()
      for (let write = 0; write < 5; write++) {
        await store.options.set('thing', { same: true })
        revisions.add((await store.options.get('thing'))?.revision)
      }
      assert.equal(revisions.size, 5)
    },
  ],
  [
    'does not repeat a revision after a deletion',
    async ({ store }) => {
      await store.options.set('thing', 1)
      const before = (await store.options.get('thing'))?.revision
      await store.options.delete('thing')
      assert.equal(await store.options.get('thing'), undefined)
      await store.options.set('thing', 2)
      assert.notEqual((await store.options.get('thing'))?.revision, before)
    },
  ],
  [
    'accepts exactly one of many concurrent first writes',
    async ({ store, another }) => {
      const other = await another()
      const created = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other).options.swap('thing', undefined, index)),
      )
      assert.equal(created.filter(Boolean).length, 1)
      assert.equal((await store.options.get('thing'))?.value, created.indexOf(true))
    },
  ],
  [
    'swaps a value only if it is at the given revision',
    async ({ store }) => {
      await store.options.set('thing', 1)
      const first = (await store.options.get('thing'))?.revision
      assert.equal(await store.options.swap('thing', first, 2), true)
      assert.equal(await store.options.swap('thing', first, 3), false)
      assert.equal(await store.options.swap('thing', undefined, 4), false)
      assert.equal((await store.options.get('thing'))?.value, 2)
    },
  ],
  [
    'deletes an unknown option without an error',
    async ({ store }) => {
      await store.options.delete('nothing')
    },
  ],
  [
    'does not share objects with writers or readers',
    async ({ store }) => {
      const written = { deep: { value: 1 } }
      await store.options.set('thing', written)
      written.deep.value = 2
      const read = (await store.options.get('thing'))?.value as typeof written
      assert.equal(read.deep.value, 1)
      read.deep.value = 3
      assert.deepEqual((await store.options.get('thing'))?.value, { deep: { value: 1 } })
    },
  ],
]
