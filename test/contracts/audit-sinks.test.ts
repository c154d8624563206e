import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AuditEvent, type AuditSink, jsonLinesSink, memorySink, sqlSink } from '../../src/audit.ts'
import { EventTally } from '../../src/features/activity/event-counts.ts'
import { auditEvent } from '../support/audit-events.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'

const NOW = Date.now()
const ALL = { limit: 100 }

let folder: string
let postgres: PostgresServer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sessmgr-audit-'))
  postgres = await startPostgres()
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await postgres?.stop()
})

let count = 0
const fileName = (name: string) => join(folder, `${++count}-${name}`)

const SINKS: Record<string, () => AuditSink> = {
  memory: () => memorySink(),
  'a file': () => jsonLinesSink(fileName('audit.jsonl'), { sync: true }),
  'daily files': () => jsonLinesSink(fileName('audit-{date}.jsonl')),
  SQLite: () => sqlSink({ path: fileName('audit.db') }),
  PostgreSQL: () => sqlSink({ pool: postgres.pool(), table: `audit_${++count}` }),
}

async function readAll(sink: AuditSink, query: object = {}, limit = 3) {
  const events: AuditEvent[] = []
  let cursor: string | undefined
  do {
    const page = await sink.read?.({ limit, ...query, cursor })
    expect(page?.events.length).toBeLessThanOrEqual(limit)
    events.push(...(page?.events ?? []))
    cursor = page?.next
  } while (cursor !== undefined)
  return events
}

describe.each(Object.entries(SINKS))('the sink in %s', (name, create) => {
  it('is empty at first, keeps whole events, and returns them in pages, newest first', async () => {
    const sink = create()
    expect(await sink.read?.(ALL)).toMatchObject({ events: [] })
    const details = { from: 'ä,"\n=', tokens: ['a'.repeat(100)], none: null }
    const events = Array.from({ length: 8 }, (_, index) => auditEvent(NOW - index, { details, ip: '203.0.113.9' }))
    const written = events.toReversed()
    await sink.write(written.slice(0, 5))
    await sink.write(written.slice(5))
    expect(await readAll(sink)).toEqual(events)
    expect(await readAll(sink, {}, 8)).toHaveLength(8)
    const { since = NOW - 7 } = (await sink.read?.(ALL)) ?? {}
    // Never later than the first event, which is written a second after it has happened.
    expect(since).toBeLessThanOrEqual(NOW - 7)
    expect(since).toBeGreaterThan(NOW - 60_000)
    for (const cursor of ['x', '1:2:3', '9'.repeat(40), '-:x']) {
      const foreign = sink.read?.({ limit: 3, cursor })
      await expect(foreign, cursor).rejects.toThrow('"cursor" must be the `next` of a page')
    }
    await sink.close?.()
  })

  it('selects events by type, user and time', async () => {
    const sink = create()
    await sink.write([
      auditEvent(NOW, { user: 2 }),
      auditEvent(NOW + 1, { user: '2' }),
      auditEvent(NOW + 2, { type: 'session.ended', user: 2 }),
      auditEvent(NOW + 3, { type: 'logout.all' }),
    ])
    for (const [query, expected] of [
      [{ users: [2] }, [2, 0]],
      [{ users: ['2'] }, [1]],
      [{ users: [2, '2'], type: 'session.started' }, [1, 0]],
      [{ users: [] }, []],
      [{ from: NOW + 1, to: NOW + 3 }, [2, 1]],
    ] as const) {
      const found = (await readAll(sink, query)).map(({ at }) => at - NOW)
      expect(found, JSON.stringify(query)).toEqual(expected)
    }
    await sink.close?.()
  })

  it.runIf(name.includes('SQL'))('counts events by time, and the users at the limit, as one by one', async () => {
    const sink = create()
    const from = NOW - 100 * 60_000
    expect(await sink.count?.({ from, to: NOW, step: 60_000, limit: 9 })).toMatchObject({ parts: [], users: [] })
    const types = ['session.started', 'session.ended', 'login.refused', 'login.would_limit', 'login.asked'] as const
    const kinds = ['displaced', 'signed_out', 'chosen', 'idle', 'never_used', 'max_age'] as const
    const users = [2, '2', 'ü "x"', undefined]
    const events = Array.from({ length: 400 }, (_, n) => {
      const type = types[n % 5] ?? 'login.refused'
      const kind = type === 'session.ended' ? kinds[(n * 7) % 6] : undefined
      const user = users[((n * n) % 7) % 4]
      const ip = n % 3 === 0 ? undefined : `203.0.113.${n % 11}`
      const fields = Object.entries({ type, user, ip, kind }).filter(([, value]) => value !== undefined)
      return auditEvent(from + n * 15_000, Object.fromEntries(fields))
    })
    await sink.write(events)
    const query = { from: from + 60_000, to: NOW - 60_000, step: 7 * 60_000, limit: 2 }
    for (const [name, only, matches] of [
      ['all', {}, () => true],
      ['of users', { users: ['2'] }, ({ user }) => user === '2'],
      ['of a type', { type: 'login.refused' }, ({ type }) => type === 'login.refused'],
      ['from an address', { ip: '203.0.113.4' }, ({ ip }) => ip === '203.0.113.4'],
    ] as const satisfies readonly [string, object, (event: AuditEvent) => boolean][]) {
      const tally = new EventTally(query)
      for (const event of events) if (event.at >= query.from && event.at < query.to && matches(event)) tally.add(event)
      const counts = await sink.count?.({ ...query, ...only })
      const sorted = (all: typeof counts) => all?.users.map((one) => ({ ...one, ips: one.ips.toSorted() }))
      expect(counts?.parts, name).toEqual(tally.parts())
      expect(counts?.parts.length, name).toBeGreaterThan(5)
      expect(sorted(counts), name).toEqual(sorted({ parts: [], users: tally.users(2) }))
    }
    await sink.close?.()
  })

  it.skipIf(name.includes('file'))('keeps an event once, and deletes old events and those about a user', async () => {
    const sink = create()
    const events = [auditEvent(NOW - 5000), auditEvent(NOW - 4000, { type: 'settings.changed', actor: 8 })]
    await sink.write(events)
    await sink.write([...events, auditEvent(NOW - 3000, { user: 9 })])
    expect(await readAll(sink)).toHaveLength(3)
    expect(await sink.forget?.(8)).toBe(1)
    expect(await sink.forget?.('9')).toBe(0)
    expect((await readAll(sink)).map(({ user }) => user)).toEqual([9, 7])
    await sink.prune?.(NOW - 4000)
    expect((await readAll(sink)).map(({ user }) => user)).toEqual([9])
    await sink.close?.()
  })
})

it('sqlSink() creates files that only their owner may read, and leaves the rights of others', async () => {
  const path = fileName('private.db')
  const sink = sqlSink({ path })
  await sink.write([auditEvent(NOW)])
  const files = readdirSync(folder).map((file) => join(folder, file))
  const modes = files.filter((file) => file.startsWith(path)).map((file) => statSync(file).mode & 0o777)
  expect(modes).toEqual([0o600, 0o600, 0o600])
  await sink.close?.()
  chmodSync(path, 0o640)
  const again = sqlSink({ path })
  expect([(await readAll(again)).length, statSync(path).mode & 0o777]).toEqual([1, 0o640])
  await again.close?.()
})

describe('jsonLinesSink', () => {
  it('writes files that only their owner may read, and deletes those that are too old', async () => {
    const path = fileName('log-{date}.jsonl')
    const sink = jsonLinesSink(path)
    await sink.write([auditEvent(NOW)])
    const today = path.replace('{date}', new Date().toISOString().slice(0, 10))
    expect(statSync(today).mode & 0o777).toBe(0o600)
    const [old, kept] = ['2020-01-01', '2021-01-01'].map((date) => path.replace('{date}', date)) as [string, string]
    for (const file of [old, kept]) writeFileSync(file, `${JSON.stringify(auditEvent(NOW - 1))}\n`)
    expect(await readAll(sink, {}, 1)).toHaveLength(3)
    await sink.prune?.(Date.parse('2021-01-01T12:00:00Z'))
    const left = readdirSync(folder).map((file) => join(folder, file))
    expect([old, kept, today].map((file) => left.includes(file))).toEqual([false, true, true])
  })

  it('skips a line that was cut off, and goes on in a new one', async () => {
    const path = fileName('cut.jsonl')
    writeFileSync(path, `${JSON.stringify(auditEvent(5))}\n{"id":"0190`)
    const sink = jsonLinesSink(path)
    expect(await sink.read?.(ALL), 'events from before the file was copied').toMatchObject({ since: 5 })
    for (const at of [1, 2]) await sink.write([auditEvent(NOW + at)])
    expect((await readAll(sink)).map(({ at }) => at)).toEqual([NOW + 2, NOW + 1, 5])
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(5)
  })

  it('reads lines that are longer than a block', async () => {
    const sink = jsonLinesSink(fileName('long.jsonl'))
    const events = [1, 200_000, 3].map((length) => auditEvent(NOW + length, { details: { x: 'ü'.repeat(length) } }))
    await sink.write(events)
    expect(await readAll(sink, {}, 2)).toEqual(events.toReversed())
  })
})

it('a sink says what is wrong with its options', () => {
  const pool = { query: async () => ({ rows: [] }) }
  const rows: readonly (readonly [() => unknown, string?])[] = [
    [() => memorySink({ limt: 5 } as never), 'memorySink() has no option "limt". Did you mean "limit"?'],
    [() => memorySink({ limit: 0 })],
    [() => jsonLinesSink('')],
    [() => jsonLinesSink('{date}/audit.jsonl')],
    [() => sqlSink(new Pool() as never), 'Pass the pool as an option: sqlSink({ pool }), not sqlSink(pool).'],
    [() => sqlSink({ pool: new Client() as never }), '"pool" is a single client, which may be in a transaction.'],
    [() => sqlSink({})],
    [() => sqlSink({ path: 'a.db', pool })],
    [() => sqlSink({ path: 'a.db', table: 'drop table' })],
  ]
  for (const [create, message = ''] of rows) {
    const refusal = { code: 'invalid_option', message: expect.stringContaining(message) }
    expect(create, String(create)).toThrow(expect.objectContaining(refusal))
  }
})
