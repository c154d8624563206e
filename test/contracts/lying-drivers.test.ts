import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { DocumentDriver, DocumentReply } from '../../src/document.ts'
import { fakeClock, registerDocumentDriverContract } from '../../src/testing.ts'
import { MemoryRows } from '../support/memory-driver.ts'

/** Keys that the contract writes. */
const KEYS = Array.from({ length: 1000 }, (_, n) => `u:${n}`)

/** Runs the contract on a driver that somebody has broken, and gives the names of the cases that fail. */
async function failures(breakIt: (driver: DocumentDriver) => DocumentDriver): Promise<readonly string[]> {
  const cases = new Map<string, () => Promise<void>>()
  const create = async () => {
    const clock = fakeClock()
    const rows = new MemoryRows(clock)
    const another = async () => breakIt(rows.driver())
    return {
      driver: await another(),
      another,
      pass: async (ms: number) => clock.advance(ms),
      close: async () => {},
    }
  }
  registerDocumentDriverContract({ describe: (_, body) => body(), it: (name, body) => cases.set(name, body), create })
  const failed: string[] = []
  for (const [name, body] of cases) await body().catch(() => failed.push(name))
  return failed
}

describe('the driver contract', () => {
  it('passes a driver that keeps it', async () => {
    expect(await failures((driver) => driver)).toEqual([])
  })

  it('fails a driver that says of every write that it was made', async () => {
    const failed = await failures((driver) => ({
      ...driver,
      async swap(...call) {
        await driver.swap(...call)
        return true
      },
    }))
    expect(failed).toContain('accepts exactly one of many concurrent writes at the same revision')
    expect(failed).toContain('accepts exactly one of many concurrent first writes')
    expect(failed).toContain('changes nothing if the row is at another revision')
  })

  it('fails a driver that writes whatever the revision is', async () => {
    const failed = await failures((driver) => ({
      ...driver,
      async swap(key, revision, ...rest) {
        if (await driver.swap(key, revision, ...rest)) return true
        const present = (await driver.get([key])).rows.get(key)
        return driver.swap(key, present?.revision, ...rest)
      },
    }))
    expect(failed).toContain('changes nothing if the row is at another revision')
  })

  it('fails a driver that compares in one step and writes in another', async () => {
    const failed = await failures((driver) => ({
      ...driver,
      async swap(key, revision, ...rest) {
        const before = (await driver.get([key])).rows.get(key)?.revision
        if (before !== revision) return false
        for (;;) {
          const present = (await driver.get([key])).rows.get(key)
          if (await driver.swap(key, present?.revision, ...rest)) return true
        }
      },
    }))
    expect(failed).toContain('accepts exactly one of many concurrent writes at the same revision')
  })

  it('fails a driver that reads what is past, as a replica does', async () => {
    const failed = await failures((driver) => {
      let late: DocumentReply | undefined
      return {
        ...driver,
        async get(keys) {
          const reply = late ?? (await driver.get(keys))
          late = await driver.get(keys)
          return reply
        },
      }
    })
    expect(failed).toContain('reads immediately what another connection has written')
  })

  it.each([-1, 1])('fails a driver with a clock that jumps by an hour, %i', async (direction) => {
    const failed = await failures((driver) => {
      let calls = 0
      return {
        ...driver,
        async get(keys) {
          const { now, rows } = await driver.get(keys)
          calls += 1
          return { now: now + (calls > 5 ? direction * 3_600_000 : 0), rows }
        },
      }
    })
    expect(failed).toContain('returns a time that neither jumps nor stops')
  })

  it('fails a driver that counts revisions itself', async () => {
    const failed = await failures((driver) => ({
      ...driver,
      async swap(key, before, { text }, lifeMs) {
        const present = (await driver.get([key])).rows.get(key)
        if (present?.revision !== before) return false
        return driver.swap(key, before, { revision: String(Number(before ?? 0) + 1), text }, lifeMs)
      },
    }))
    expect(failed).toContain('keeps the revision that the writer of each write has chosen')
  })

  it.each([
    ['never', async () => 0, 'purges only expired rows, and no more than the given number'],
    ['without a bound', undefined, 'purges only expired rows, and no more than the given number'],
  ])('fails a driver that purges %s', async (_, purge, name) => {
    const failed = await failures((driver) => ({ ...driver, purge: purge ?? (() => driver.purge(1000)) }))
    expect(failed).toContain(name)
  })

  const lies: readonly (readonly [string, string, (driver: DocumentDriver) => Partial<DocumentDriver>])[] = [
    [
      'refuses every write',
      'loses no write when many connections read, change and write a row',
      () => ({ swap: async () => false }),
    ],
    [
      'reads the first 100 of its keys',
      'looks up 500 keys in one call, and returns only their rows',
      (driver) => ({ get: (keys) => driver.get(keys.slice(0, 100)) }),
    ],
    [
      'refuses to replace a string with an empty one',
      'replaces a string with an empty one',
      (driver) => ({
        swap: async (...call) => (call[1] !== undefined && call[2].text === '' ? false : driver.swap(...call)),
      }),
    ],
    [
      'returns a fraction as the time of rows',
      'returns a time that neither jumps nor stops',
      (driver) => ({
        async get(keys) {
          const { now, rows } = await driver.get(keys)
          return { now: rows.size > 0 ? now + 0.5 : now, rows }
        },
      }),
    ],
    [
      'stores a life as 32 bits',
      'keeps rows that expire in 30 and in 400 days',
      (driver) => ({ swap: (key, at, row, lifeMs) => driver.swap(key, at, row, lifeMs && lifeMs | 0) }),
    ],
    [
      'reads, and later deletes what has expired',
      'does not delete a row that is written during a purge',
      (driver) => {
        return {
          async purge() {
            const { rows } = await driver.get(KEYS)
            const expired = KEYS.filter((key) => !rows.has(key))
            await setImmediate()
            const later = await driver.get(expired)
            for (const [key, { revision }] of later.rows)
              await driver.swap(key, revision, { revision: 'gone', text: '' }, -1)
            return expired.length
          },
        }
      },
    ],
  ]
  it.each(lies)('fails a driver that %s', async (_, name, lie) => {
    expect(await failures((driver) => ({ ...driver, ...lie(driver) }))).toContain(name)
  })

  it('fails a driver that wipes 500 rows only', async () => {
    const name = 'deletes every row when it is wiped, and continues to work'
    const failed = await failures((driver) => ({
      ...driver,
      async wipe() {
        const { rows } = await driver.get(['epoch', ...KEYS])
        for (const [key, { revision }] of [...rows].slice(0, 500))
          await driver.swap(key, revision, { revision: 'gone', text: '' }, -1)
      },
    }))
    expect(failed).toContain(name)
  })

  it('fails a driver that folds the case of keys', async () => {
    const failed = await failures((driver) => ({
      ...driver,
      swap: (key, ...rest) => driver.swap(key.toLowerCase(), ...rest),
    }))
    expect(failed).toEqual(['distinguishes keys, even if they are long or differ only in case'])
  })
})
