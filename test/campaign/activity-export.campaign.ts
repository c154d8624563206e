import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { jsonLinesSink, sqlSink } from '../../src/audit.ts'
import { exportEvents } from '../../src/features/activity/activity-routes.ts'
import { auditEvent } from '../support/audit-events.ts'
import { heapInUse } from '../support/heap.ts'
import { ownFolder } from '../support/own-folder.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { printFigures } from '../support/print-figures.ts'
import { rounds } from '../support/rounds.ts'

const COUNT = rounds(100_000)
const WRITTEN = 5000

const SINKS = {
  'a file': async (folder: string) => jsonLinesSink(join(folder, 'audit.jsonl')),
  SQLite: async (folder: string) => sqlSink({ path: join(folder, 'audit.db') }),
  PostgreSQL: async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    return sqlSink({ pool: postgres.pool() })
  },
}

it.each(Object.entries(SINKS))('a million events in %s are exported in constant memory', async (name, create) => {
  const folder = ownFolder()
  const sink = await create(folder)
  const start = Date.now() - COUNT
  for (let at = 0; at < COUNT; at += WRITTEN) {
    await sink.write(Array.from({ length: WRITTEN }, (_, index) => auditEvent(start + at + index)))
  }
  const recorder = {
    read: async (query: Parameters<NonNullable<typeof sink.read>>[0]) => {
      const page = await sink.read?.(query)
      return { events: [], ...page, since: 0 }
    },
  }
  const before = await heapInUse()
  let [lines, most, pages] = [0, before, 0]
  for await (const text of exportEvents(recorder, {}, 'csv', {
    usersOf: async () => (id) => ({ id }),
    placesOf: async () => [],
  })) {
    lines += text.split('\n').length - 1
    pages += 1
    if (pages % 100 === 0) most = Math.max(most, await heapInUse())
  }
  await sink.close?.()
  printFigures(`export from ${name}`, { events: COUNT, before, most })
  expect(lines).toBe(COUNT + 1)
  expect(most - before).toBeLessThan(20)
})
