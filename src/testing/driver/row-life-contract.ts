import assert from 'node:assert/strict'
import type { DocumentDriver } from '../../stores/document/document-driver.ts'
import type { DriverCase } from './driver-case.ts'

const KEY = 'u:a'
const SHORT = 1000
const LONGER = SHORT + 50
/** How far the clocks of two connections may differ. */
const SKEW_MS = 1000
const DAY_MS = 24 * 60 * 60_000

const rowOf = async (driver: DocumentDriver, key = KEY) => (await driver.get([key])).rows.get(key)

/** Requirements on the expiry of rows, and on time. */
export const rowLifeContract: readonly DriverCase[] = [
  [
    'reads every row that has not expired, and no other',
    async ({ driver, pass }) => {
      await driver.swap(KEY, undefined, 'short', SHORT)
      await driver.swap('u:b', undefined, 'long', 60_000)
      await driver.swap('u:c', undefined, 'for good', undefined)
      await pass(LONGER)
      const { rows } = await driver.get([KEY, 'u:b', 'u:c'])
      assert.deepEqual(new Set(rows.keys()), new Set(['u:b', 'u:c']))
    },
  ],
  [
    'keeps rows that expire in 30 and in 400 days',
    async ({ driver, pass }) => {
      await driver.swap('u:30', undefined, 'a month', 30 * DAY_MS)
      await driver.swap('u:400', undefined, 'a year', 400 * DAY_MS)
      await pass(LONGER)
      await driver.purge(100)
      assert.equal((await driver.get(['u:30', 'u:400'])).rows.size, 2)
    },
  ],
  [
    'sets or removes the expiry of a row with each write',
    async ({ driver, pass }) => {
      for (const [key, life] of [
        [KEY, 60_000],
        ['u:b', undefined],
      ] as const) {
        await driver.swap(key, undefined, 'first', 10_000)
        const revision = (await rowOf(driver, key))?.revision
        await driver.swap(key, revision, 'second', SHORT)
        await driver.swap(key, (revision as number) + 1, 'third', life)
      }
      await driver.swap('u:c', undefined, 'first', undefined)
      await driver.swap('u:c', (await rowOf(driver, 'u:c'))?.revision, 'second', SHORT)
      await pass(LONGER)
      const { rows } = await driver.get([KEY, 'u:b', 'u:c'])
      assert.deepEqual(new Set(rows.keys()), new Set([KEY, 'u:b']))
    },
  ],
  [
    'writes over an expired row as if it were missing, with a higher revision',
    async ({ driver, another, pass }) => {
      const other = await another()
      await driver.swap(KEY, undefined, 'first', 60_000)
      let revision = (await rowOf(driver))?.revision as number
      for (let n = 0; n < 10; n++) await driver.swap(KEY, revision++, 'again', SHORT)
      await pass(LONGER)
      const results = await Promise.all([driver, other].map((each) => each.swap(KEY, undefined, 'new', 60_000)))
      assert.equal(results.filter(Boolean).length, 1)
      const row = await rowOf(other)
      assert.equal(row?.text, 'new')
      assert.ok(row.revision > revision, `revision ${row.revision} is not above ${revision}, so a revision may repeat`)
      assert.equal(await driver.swap(KEY, revision, 'late', 60_000), false)
    },
  ],
  [
    'purges only expired rows, and no more than the given number',
    async ({ driver, another, pass }) => {
      const other = await another()
      for (let n = 0; n < 5; n++) await driver.swap(`u:${n}`, undefined, 'short', SHORT)
      await driver.swap('u:long', undefined, 'long', 60_000)
      await driver.swap('u:for good', undefined, 'for good', undefined)
      await pass(LONGER)
      assert.equal(await driver.swap('u:0', undefined, 'new', 60_000), true)
      assert.equal(await other.purge(3), 3)
      assert.equal(await driver.purge(100), 1)
      assert.equal(await driver.purge(100), 0)
      const { rows } = await driver.get(['u:0', 'u:1', 'u:long', 'u:for good'])
      assert.deepEqual(new Set(rows.keys()), new Set(['u:0', 'u:long', 'u:for good']))
    },
  ],
  [
    'does not delete a row that is written during a purge',
    async ({ driver, another, pass }) => {
      const other = await another()
      const keys = Array.from({ length: 20 }, (_, n) => `u:${n}`)
      for (const key of keys) await driver.swap(key, undefined, 'short', SHORT)
      await pass(LONGER)
      // The purge may fail, but the writes must not.
      const purging = other.purge(100).catch(() => 0)
      const written = await Promise.all(keys.map((key) => driver.swap(key, undefined, 'new', 60_000)))
      await purging
      const { rows } = await driver.get(keys)
      const lost = keys.filter((key, n) => written[n] && rows.get(key)?.text !== 'new')
      assert.deepEqual(lost, [])
    },
  ],
  [
    'returns a time that neither jumps nor stops',
    async ({ driver, another, pass }) => {
      const both = [driver, await another()]
      await driver.swap(KEY, undefined, 'text', 60_000)
      const start = performance.now()
      const first = (await driver.get([])).now
      let latest = first
      for (let n = 0; n < 40; n++) {
        const { now } = await (both[n % 2] as DocumentDriver).get([KEY])
        assert.ok(Number.isSafeInteger(now), `${now} is not a whole number`)
        const elapsed = performance.now() - start
        assert.ok(now >= latest - SKEW_MS, `the clock went back by ${latest - now} ms`)
        assert.ok(now <= first + elapsed + SKEW_MS, `the clock advanced ${now - first} ms in ${elapsed} ms`)
        latest = Math.max(latest, now)
      }
      await pass(SHORT)
      assert.ok((await driver.get([])).now >= first + SHORT, 'the clock has stopped')
    },
  ],
]
