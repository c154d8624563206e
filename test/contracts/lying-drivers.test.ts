import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { DocumentDriver, DocumentReply } from '../../src/document.ts'
import { fakeClock, registerDocumentDriverContract } from '../../src/testing.ts'
import { MemoryRows } from '../support/memory-driver.ts'
import { driverFailures } from './failures-of.ts'

/** Keys that the contract writes. */
const KEYS = Array.from({ length: 1000 }, (_, n) => `u:${n}`)

/** What a driver does in place of what it should. */
type Lie = (driver: DocumentDriver) => Partial<DocumentDriver>

const creating = (lie: Lie) => async () => {
  const clock = fakeClock()
  const rows = new MemoryRows(clock)
  const another = async () => ({ ...rows.driver(), ...lie(rows.driver()) })
  return { driver: await another(), another, pass: async (ms: number) => clock.advance(ms), close: async () => {} }
}

/** Deletes rows, as a driver that has only get and swap can. */
async function remove(driver: DocumentDriver, keys: readonly string[], most = keys.length): Promise<void> {
  const { rows } = await driver.get(keys)
  for (const [key, { revision }] of [...rows].slice(0, most)) {
    await driver.swap(key, revision, { revision: 'gone', text: '' }, -1)
  }
}

/** Changes the time of every reply, with the number of the call. */
const withTime = (change: (now: number, call: number, reply: DocumentReply) => number): Lie => {
  return (driver) => {
    let calls = 0
    return {
      async get(keys) {
        const reply = await driver.get(keys)
        calls += 1
        return { now: change(reply.now, calls, reply), rows: reply.rows }
      },
    }
  }
}

const AT_REVISION = 'changes nothing if the row is at another revision'
const ONE_WRITE = 'accepts exactly one of many concurrent writes at the same revision'
const CLOCK = 'returns a time that neither jumps nor stops'
const PURGE = 'purges only expired rows, and no more than the given number'

const LIES: Readonly<Record<string, readonly [cases: readonly string[], lie: Lie]>> = {
  'says of every write that it was made': [
    [ONE_WRITE, 'accepts exactly one of many concurrent first writes', AT_REVISION],
    (driver) => ({ swap: async (...call) => (await driver.swap(...call)) || true }),
  ],
  'refuses every write': [
    ['loses no write when many connections read, change and write a row'],
    () => ({ swap: async () => false }),
  ],
  'writes whatever the revision is': [
    [AT_REVISION],
    (driver) => ({
      async swap(key, revision, ...rest) {
        if (await driver.swap(key, revision, ...rest)) return true
        return driver.swap(key, (await driver.get([key])).rows.get(key)?.revision, ...rest)
      },
    }),
  ],
  'compares in one step and writes in another': [
    [ONE_WRITE],
    (driver) => ({
      async swap(key, revision, ...rest) {
        const present = async () => (await driver.get([key])).rows.get(key)?.revision
        if ((await present()) !== revision) return false
        for (;;) if (await driver.swap(key, await present(), ...rest)) return true
      },
    }),
  ],
  'counts revisions itself': [
    ['keeps the revision that the writer of each write has chosen'],
    (driver) => ({
      async swap(key, before, { text }, lifeMs) {
        const present = (await driver.get([key])).rows.get(key)
        if (present?.revision !== before) return false
        return driver.swap(key, before, { revision: String(Number(before ?? 0) + 1), text }, lifeMs)
      },
    }),
  ],
  'reads what is past, as a replica does': [
    ['reads immediately what another connection has written'],
    (driver) => {
      let late: DocumentReply | undefined
      return {
        async get(keys) {
          const reply = late ?? (await driver.get(keys))
          late = await driver.get(keys)
          return reply
        },
      }
    },
  ],
  'reads the first 100 of its keys': [
    ['looks up 500 keys in one call, and returns only their rows'],
    (driver) => ({ get: (keys) => driver.get(keys.slice(0, 100)) }),
  ],
  'refuses to replace a string with an empty one': [
    ['replaces a string with an empty one'],
    (driver) => ({
      swap: async (...call) => (call[1] !== undefined && call[2].text === '' ? false : driver.swap(...call)),
    }),
  ],
  'folds the case of keys': [
    ['distinguishes keys, even if they are long or differ only in case'],
    (driver) => ({ swap: (key, ...rest) => driver.swap(key.toLowerCase(), ...rest) }),
  ],
  'has a clock that jumps back by an hour': [[CLOCK], withTime((now, call) => now - (call > 5 ? 3_600_000 : 0))],
  'has a clock that jumps ahead by an hour': [[CLOCK], withTime((now, call) => now + (call > 5 ? 3_600_000 : 0))],
  'returns a fraction as the time of rows': [
    [CLOCK],
    withTime((now, _, { rows }) => (rows.size > 0 ? now + 0.5 : now)),
  ],
  'stores a life as 32 bits': [
    ['keeps rows that expire in 30 and in 400 days'],
    (driver) => ({ swap: (key, at, row, lifeMs) => driver.swap(key, at, row, lifeMs && lifeMs | 0) }),
  ],
  'never purges': [[PURGE], () => ({ purge: async () => 0 })],
  'purges without a bound': [[PURGE], (driver) => ({ purge: () => driver.purge(1000) })],
  'reads, and later deletes what has expired': [
    ['does not delete a row that is written during a purge'],
    (driver) => ({
      async purge() {
        const { rows } = await driver.get(KEYS)
        const expired = KEYS.filter((key) => !rows.has(key))
        await setImmediate()
        await remove(driver, expired)
        return expired.length
      },
    }),
  ],
  'wipes 500 rows only': [
    ['deletes every row when it is wiped, and continues to work'],
    (driver) => ({ wipe: () => remove(driver, ['epoch', ...KEYS], 500) }),
  ],
}

describe('the driver contract', () => {
  registerDocumentDriverContract({ describe, it, create: creating(() => ({})) })

  it.each(Object.entries(LIES))('fails a driver that %s', async (_, [cases, lie]) => {
    expect(Object.keys(await driverFailures(creating(lie)))).toEqual(expect.arrayContaining([...cases]))
  })
})
