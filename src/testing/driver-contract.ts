import assert from 'node:assert/strict'
import type { DocumentDriver } from '../stores/document/document-driver.ts'
import { registerCase } from './register-case.ts'

/** Options of registerDocumentDriverContract(). */
export interface DocumentDriverContractOptions {
  /** `describe` of your test runner. */
  describe(name: string, body: () => void): unknown
  /** `it` of your test runner. */
  it(name: string, body: () => Promise<void>): unknown
  /** Creates a driver on an empty table. Called once per case. */
  create(): Promise<DriverUnderTest>
}

/**
 * Registers the cases that every driver for `documentStore()` must pass. Works with any test runner that has `describe`
 * and `it`.
 *
 * @example
 * registerDocumentDriverContract({ describe, it, create: async () => myDriverUnderTest() })
 */
export function registerDocumentDriverContract({ describe, it, create }: DocumentDriverContractOptions): void {
  for (const [group, cases] of Object.entries({ rows: rowContract, 'expiry of rows': rowLifeContract })) {
    describe(group, () => {
      for (const [name, body] of cases) registerCase(it, create, name, body)
    })
  }
}

/** A driver under test. */
export interface DriverUnderTest {
  /** The driver, on an empty table. */
  readonly driver: DocumentDriver
  /** Opens the same table over another connection, as another process would. */
  another(): Promise<DocumentDriver>
  /** Lets at least `ms` milliseconds (about a second at most) pass: waits, or moves the database's clock forward. */
  pass(ms: number): Promise<void>
  /** Closes everything that `create` and `another` opened. Called once, even if the case fails. */
  close(): Promise<void>
}

/** A case of the contract: a name, and a test that gets a driver on an empty table. */
type DriverCase = readonly [name: string, body: (test: DriverUnderTest) => Promise<void>]

const KEY = 'u:a'
/** Far more attempts than each of 30 competing writers needs. */
const MOST_TRIES = 1000
/** As long as revisions may be. */
const LONG_REVISION = ['a1b2c3d4e5f', 'g6h7i8j9k0l', 'm1n2o3p4q5r', 's6t7u8v9w0x', 'y1z2a3b4c5d6e7f8']
  .join('.')
  .slice(0, 64)
/** JSON with characters that a database might change. */
const ODD_TEXT = JSON.stringify({ text: 'ünï 😀 \u0000 \\ \' " % \n', trailing: 'space ' })

let names = 0
/** Writes a row with a name of its own. */
const write = (
  driver: DocumentDriver,
  key: string,
  before: string | undefined,
  text: string,
  lifeMs: number | undefined,
  revision = `w${++names}.before`,
) => driver.swap(key, before, { revision, text }, lifeMs)
const rowOf = async (driver: DocumentDriver, key = KEY) => (await driver.get([key])).rows.get(key)
const revisionOf = async (driver: DocumentDriver, key = KEY) => (await rowOf(driver, key))?.revision
/** Runs a task many times in parallel, alternating between the drivers. */
const atOnce = <T>(
  count: number,
  both: readonly DocumentDriver[],
  task: (driver: DocumentDriver, n: number) => Promise<T>,
) => Promise.all(Array.from({ length: count }, (_, n) => task(both[n % both.length] as DocumentDriver, n)))

/** The cases about rows. */
const rowContract: readonly DriverCase[] = [
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
      assert.equal(await write(driver, KEY, undefined, ODD_TEXT, 60_000, LONG_REVISION), true)
      assert.deepEqual(await rowOf(await another()), { revision: LONG_REVISION, text: ODD_TEXT })
    },
  ],
  [
    'keeps the revision that the writer of each write has chosen',
    async ({ driver }) => {
      await write(driver, KEY, undefined, 'one', 60_000, 'first')
      assert.equal(await write(driver, KEY, 'first', 'two', 60_000, 'second'), true)
      assert.deepEqual(await rowOf(driver), { revision: 'second', text: 'two' })
      assert.equal(await write(driver, KEY, 'second', 'two', 60_000, 'third'), true, 'the same string was refused')
      assert.equal(await revisionOf(driver), 'third')
    },
  ],
  [
    'replaces a string with an empty one',
    async ({ driver }) => {
      await write(driver, KEY, undefined, 'text', 60_000)
      assert.equal(await write(driver, KEY, await revisionOf(driver), '', 60_000, 'emptied'), true)
      assert.deepEqual(await rowOf(driver), { revision: 'emptied', text: '' })
    },
  ],
  [
    'changes nothing if the row is at another revision',
    async ({ driver, another }) => {
      const other = await another()
      await write(driver, KEY, undefined, 'one', 60_000, 'first')
      await write(driver, KEY, 'first', 'two', 60_000, 'second')
      for (const before of ['first', 'SECOND', 'second ', 'sec', '', undefined]) {
        assert.equal(
          await write(other, KEY, before, 'three', 60_000),
          false,
          `it was written although the row is not at "${before}"`,
        )
      }
      assert.deepEqual(await rowOf(driver), { revision: 'second', text: 'two' })
    },
  ],
  [
    'writes nothing if a revision is given but there is no row',
    async ({ driver }) => {
      assert.equal(await write(driver, KEY, 'first', 'text', 60_000), false)
      assert.equal(await rowOf(driver), undefined)
    },
  ],
  [
    'accepts exactly one of many concurrent first writes',
    async ({ driver, another }) => {
      const both = [driver, await another()]
      const results = await atOnce(20, both, (each, n) => write(each, KEY, undefined, String(n), 60_000))
      assert.equal(results.filter(Boolean).length, 1)
      assert.equal((await rowOf(driver))?.text, String(results.indexOf(true)))
    },
  ],
  [
    'accepts exactly one of many concurrent writes at the same revision',
    async ({ driver, another }) => {
      const both = [driver, await another()]
      await write(driver, KEY, undefined, 'first', 60_000)
      const revision = await revisionOf(driver)
      const results = await atOnce(20, both, (each, n) => write(each, KEY, revision, String(n), 60_000))
      assert.equal(results.filter(Boolean).length, 1)
      assert.equal((await rowOf(driver))?.text, String(results.indexOf(true)))
    },
  ],
  [
    'loses no write when many connections read, change and write a row',
    async ({ driver, another }) => {
      const both = [driver, await another()]
      await write(driver, KEY, undefined, '0', 60_000)
      await atOnce(30, both, async (each) => {
        for (let tries = 0; tries < MOST_TRIES; tries++) {
          const row = await rowOf(each)
          if (await write(each, KEY, row?.revision, String(Number(row?.text) + 1), 60_000)) return
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
        assert.equal(await write(driver, KEY, revision, String(n), 60_000), true, 'an old revision was read')
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
      for (const key of keys) assert.equal(await write(driver, key, undefined, `text of ${key}`, 60_000), true, key)
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
      await atOnce(numbers.length, [driver], (each, n) => write(each, `u:${numbers[n]}`, undefined, '', undefined))
      const { rows } = await driver.get(Array.from({ length: 500 }, (_, n) => `u:${n}`))
      assert.deepEqual(new Set(rows.keys()), new Set(numbers.slice(0, -1).map((n) => `u:${n}`)))
    },
  ],
  [
    'stores a string of 300,000 characters',
    async ({ driver }) => {
      const text = JSON.stringify('ü'.repeat(300_000))
      await write(driver, KEY, undefined, text, 60_000)
      assert.equal((await rowOf(driver))?.text === text, true)
    },
  ],
  [
    'deletes every row when it is wiped, and continues to work',
    async ({ driver, another }) => {
      const other = await another()
      // More rows than some databases delete or list in one call.
      const keys = Array.from({ length: 510 }, (_, n) => `u:${n}`)
      for (let n = 0; n < keys.length; n += 10) {
        await atOnce(10, [driver], (each, m) => write(each, `u:${n + m}`, undefined, 'a', undefined))
      }
      await write(driver, 'epoch', undefined, '1', 60_000)
      await other.wipe()
      assert.equal((await driver.get(['epoch', ...keys.slice(0, 499)])).rows.size, 0)
      assert.equal((await driver.get(keys.slice(499))).rows.size, 0)
      assert.equal(await write(driver, 'epoch', undefined, 'b', 60_000), true)
    },
  ],
]

const SHORT = 1000
const LONGER = SHORT + 50
/** How far the clocks of two connections may differ. */
const SKEW_MS = 1000
const DAY_MS = 24 * 60 * 60_000

/** The cases about the expiry of rows, and about time. */
const rowLifeContract: readonly DriverCase[] = [
  [
    'reads every row that has not expired, and no other',
    async ({ driver, pass }) => {
      await write(driver, KEY, undefined, 'short', SHORT)
      await write(driver, 'u:b', undefined, 'long', 60_000)
      await write(driver, 'u:c', undefined, 'for good', undefined)
      await pass(LONGER)
      const { rows } = await driver.get([KEY, 'u:b', 'u:c'])
      assert.deepEqual(new Set(rows.keys()), new Set(['u:b', 'u:c']))
    },
  ],
  [
    'keeps rows that expire in 30 and in 400 days',
    async ({ driver, pass }) => {
      await write(driver, 'u:30', undefined, 'a month', 30 * DAY_MS)
      await write(driver, 'u:400', undefined, 'a year', 400 * DAY_MS)
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
        await write(driver, key, undefined, 'first', 10_000)
        await write(driver, key, await revisionOf(driver, key), 'second', SHORT)
        await write(driver, key, await revisionOf(driver, key), 'third', life)
      }
      await write(driver, 'u:c', undefined, 'first', undefined)
      await write(driver, 'u:c', (await rowOf(driver, 'u:c'))?.revision, 'second', SHORT)
      await pass(LONGER)
      const { rows } = await driver.get([KEY, 'u:b', 'u:c'])
      assert.deepEqual(new Set(rows.keys()), new Set([KEY, 'u:b']))
    },
  ],
  [
    'writes over an expired row as if it were missing',
    async ({ driver, another, pass }) => {
      const other = await another()
      await write(driver, KEY, undefined, 'first', SHORT, 'first')
      await pass(LONGER)
      const results = await Promise.all([driver, other].map((each) => write(each, KEY, undefined, 'new', 60_000)))
      assert.equal(results.filter(Boolean).length, 1)
      assert.equal((await rowOf(other))?.text, 'new')
      assert.equal(await write(driver, KEY, 'first', 'late', 60_000), false)
    },
  ],
  [
    'purges only expired rows, and no more than the given number',
    async ({ driver, another, pass }) => {
      const other = await another()
      for (let n = 0; n < 5; n++) await write(driver, `u:${n}`, undefined, 'short', SHORT)
      await write(driver, 'u:long', undefined, 'long', 60_000)
      await write(driver, 'u:for good', undefined, 'for good', undefined)
      await pass(LONGER)
      assert.equal(await write(driver, 'u:0', undefined, 'new', 60_000), true)
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
      for (const key of keys) await write(driver, key, undefined, 'short', SHORT)
      await pass(LONGER)
      // The purge may fail, but the writes must not.
      const purging = other.purge(100).catch(() => 0)
      const written = await Promise.all(keys.map((key) => write(driver, key, undefined, 'new', 60_000)))
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
      await write(driver, KEY, undefined, 'text', 60_000)
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
