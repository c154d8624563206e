import assert from 'node:assert/strict'
import type { StoreCase } from './store-case.ts'

/** Requirements on logout epochs. */
export const epochContract: readonly StoreCase[] = [
  [
    'starts at generation 0',
    async ({ store }) => {
      assert.equal(await store.epoch.current(), 0)
    },
  ],
  [
    'increments with each site-wide logout, for every connection',
    async ({ store, another }) => {
      assert.equal((await store.epoch.advance()).generation, 1)
      const other = await another()
      assert.equal((await other.epoch.advance()).generation, 2)
      assert.equal(await store.epoch.current(), 2)
    },
  ],
  [
    'increments from a given generation only while that one is current',
    async ({ store, another }) => {
      const other = await another()
      assert.equal((await store.epoch.advanceFrom(0))?.generation, 1)
      assert.equal(await other.epoch.advanceFrom(0), undefined)
      assert.equal(await other.epoch.current(), 1)
      const both = await Promise.all([store.epoch.advanceFrom(1), other.epoch.advanceFrom(1)])
      assert.equal(both.filter(Boolean).length, 1)
      assert.equal((await store.epoch.advanceFrom(2))?.generation, 3)
    },
  ],
  [
    'returns the time of the logout in Unix seconds',
    async ({ store }) => {
      const { epoch } = await store.epoch.advance()
      assert.ok(Number.isInteger(epoch))
      assert.ok(Math.abs(epoch - Date.now() / 1000) < 60, `${epoch} is not the current time in seconds`)
    },
  ],
  [
    'counts each of several concurrent site-wide logouts',
    async ({ store, another }) => {
      const other = await another()
      const all = await Promise.all(
        Array.from({ length: 50 }, (_, index) => (index % 2 ? store : other).epoch.advance()),
      )
      assert.equal(new Set(all.map(({ generation }) => generation)).size, 50)
      assert.equal(await store.epoch.current(), 50)
    },
  ],
]
