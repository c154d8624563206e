import assert from 'node:assert/strict'
import type { DocumentDriver } from '../../stores/document/document-driver.ts'
import type { DriverCase } from './driver-case.ts'

const KEY = 'u:a'
/** Far more attempts than each of 30 competing writers needs. */
const MOST_TRIES = 1000
/** JSON with characters that a database might change. */
const ODD_TEXT = JSON.stringify({ text: 'ünï 😀 \u0000 \\ \' " % \n', trailing: 'space ' })

const rowOf = async (driver: DocumentDriver, key = KEY) => (await driver.get([key])).rows.get(key)
const revisionOf = async (driver: DocumentDriver, key = KEY) => (await rowOf(driver, key))?.revision
/** Runs a task many times in parallel, alternating between both drivers. */
const atOnce = <T>(
  count: number,
  both: readonly DocumentDriver[],
  task: (driver: DocumentDriver, n: number) => Promise<T>,
) => Promise.all(Array.from({ length: count }, (_, n) => task(both[n % both.length] as DocumentDriver, n)))

/** Requirements on rows. */
export const rowContract: readonly DriverCase[] = [
  ['has the same id on every connection', async ({ driver, another }) => assert.equal((await another()).id, driver.id)],
  [
    'finds no row in an empty table, and returns the time',
    async ({ driver }) => {
      const { now, rows } = await driver.get([KEY])
      assert.equal(rows.size, 0)
      assert.ok(Number.isSafeInteger(now), `${now} is not a whole number`)
      assert.ok(Math.abs(now - Date.now()) < 24 * 60 * 60_000, `${now} is not the current time in milliseconds`)
    },
  ],
  [
    'writes a new row, and returns it as written on every connection',
    async ({ driver, another }) => {
      const { now } = await driver.get([])
      assert.equal(await driver.swap(KEY, undefined, ODD_TEXT, 60_000), true)
      const row = await rowOf(await another())
      assert.equal(row?.text, ODD_TEXT)
      assert.ok(Number.isSafeInteger(row?.revision), `the revision ${row?.revision} is not a whole number`)
      assert.ok((row?.revision ?? 0) >= now, "the revision of a new row is below the database's clock")
    },
  ],
  [
    'increments the revision with each write',
    async ({ driver }) => {
      await driver.swap(KEY, undefined, 'one', 60_000)
      const first = (await revisionOf(driver)) as number
      assert.equal(await driver.swap(KEY, first, 'two', 60_000), true)
      assert.deepEqual(await rowOf(driver), { revision: first + 1, text: 'two' })
      assert.equal(await driver.swap(KEY, first + 1, 'two', 60_000), true, 'writing the same string again was refused')
      assert.equal(await revisionOf(driver), first + 2)
    },
  ],
  [
    'replaces a string with an empty one',
    async ({ driver }) => {
      await driver.swap(KEY, undefined, 'text', 60_000)
      const revision = (await revisionOf(driver)) as number
      assert.equal(await driver.swap(KEY, revision, '', 60_000), true)
      assert.deepEqual(await rowOf(driver), { revision: revision + 1, text: '' })
    },
  ],
  [
    'changes nothing if the row is at another revision',
    async ({ driver, another }) => {
      const other = await another()
      await driver.swap(KEY, undefined, 'one', 60_000)
      const first = (await revisionOf(driver)) as number
      await driver.swap(KEY, first, 'two', 60_000)
      for (const revision of [first, first + 2, 1, 0, undefined]) {
        assert.equal(
          await other.swap(KEY, revision, 'three', 60_000),
          false,
          `it was written although the row is not at ${revision}`,
        )
      }
      assert.deepEqual(await rowOf(driver), { revision: first + 1, text: 'two' })
    },
  ],
  [
    'writes nothing if a revision is given but there is no row',
    async ({ driver }) => {
      assert.equal(await driver.swap(KEY, 1, 'text', 60_000), false)
      assert.equal(await rowOf(driver), undefined)
    },
  ],
  [
    'accepts exactly one of many concurrent first writes',
    async ({ driver, another }) => {
      const both = [driver, await another()]
      const results = await atOnce(20, both, (each, n) => each.swap(KEY, undefined, String(n), 60_000))
      assert.equal(results.filter(Boolean).length, 1)
      assert.equal((await rowOf(driver))?.text, String(results.indexOf(true)))
    },
  ],
  [
    'accepts exactly one of many concurrent writes at the same revision',
    async ({ driver, another }) => {
      const both = [driver, await another()]
      await driver.swap(KEY, undefined, 'first', 60_000)
      const revision = await revisionOf(driver)
      const results = await atOnce(20, both, (each, n) => each.swap(KEY, revision, String(n), 60_000))
      assert.equal(results.filter(Boolean).length, 1)
      assert.equal((await rowOf(driver))?.text, String(results.indexOf(true)))
    },
  ],
  [
    'loses no write when many connections read, change and write a row',
    async ({ driver, another }) => {
      const both = [driver, await another()]
      await driver.swap(KEY, undefined, '0', 60_000)
      await atOnce(30, both, async (each) => {
        for (let tries = 0; tries < MOST_TRIES; tries++) {
          const row = await rowOf(each)
          if (await each.swap(KEY, row?.revision, String(Number(row?.text) + 1), 60_000)) return
        }
        assert.fail(`a write was refused ${MOST_TRIES} times`)
      })
      assert.equal((await rowOf(driver))?.text, '30')
    },
  ],
  [
    'reads immediately what another connection has written',
    async ({ driver, another }) => {
      const other = await another()
      for (let n = 0; n < 30; n++) {
        const revision = await revisionOf(other)
        assert.equal(await driver.swap(KEY, revision, String(n), 60_000), true, 'an old revision was read')
        assert.equal((await rowOf(other))?.text, String(n), 'an old string was read')
      }
    },
  ],
  [
    'distinguishes keys, even if they are long or differ only in case',
    async ({ driver }) => {
      const keys = [
        'u:a',
        'u:A',
        'p:a',
        'u:a%20',
        'u:a_',
        "u:'a'",
        'u:*',
        'epoch',
        `u:${'x'.repeat(208)}`,
        `u:${'x'.repeat(207)}`,
      ]
      for (const key of keys) assert.equal(await driver.swap(key, undefined, `text of ${key}`, 60_000), true, key)
      const { rows } = await driver.get([...keys, 'u:unknown'])
      assert.deepEqual(
        new Map([...rows].map(([key, { text }]) => [key, text])),
        new Map(keys.map((key) => [key, `text of ${key}`])),
      )
    },
  ],
  [
    'looks up 500 keys in one call, and returns only their rows',
    async ({ driver }) => {
      // Spread over the whole call, whose last key is 499. The row of key 520 is not requested.
      const numbers = [0, 19, 99, 100, 101, 255, 256, 300, 399, 400, 499, 520]
      await atOnce(numbers.length, [driver], (each, n) => each.swap(`u:${numbers[n]}`, undefined, '', undefined))
      const { rows } = await driver.get(Array.from({ length: 500 }, (_, n) => `u:${n}`))
      assert.deepEqual(new Set(rows.keys()), new Set(numbers.slice(0, -1).map((n) => `u:${n}`)))
    },
  ],
  [
    'stores a string of 300,000 characters',
    async ({ driver }) => {
      const text = JSON.stringify('ü'.repeat(300_000))
      await driver.swap(KEY, undefined, text, 60_000)
      assert.equal((await rowOf(driver))?.text === text, true)
    },
  ],
  [
    'deletes every row when it is wiped, and continues to work',
    async ({ driver, another }) => {
      const other = await another()
      // More rows than databases delete or list in one call.
      const keys = Array.from({ length: 510 }, (_, n) => `u:${n}`)
      for (let n = 0; n < keys.length; n += 10) {
        await atOnce(10, [driver], (each, m) => each.swap(`u:${n + m}`, undefined, 'a', undefined))
      }
      await driver.swap('epoch', undefined, '1', 60_000)
      await other.wipe()
      const { now, rows } = await driver.get(['epoch', ...keys.slice(0, 499)])
      assert.equal(rows.size, 0)
      assert.equal((await driver.get(keys.slice(499))).rows.size, 0)
      assert.equal(await driver.swap('epoch', undefined, 'b', 60_000), true)
      assert.ok(
        ((await revisionOf(driver, 'epoch')) ?? 0) >= now,
        "the revision of a new row is below the database's clock",
      )
    },
  ],
]
