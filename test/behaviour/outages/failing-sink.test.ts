import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type AuditSink, jsonLinesSink, sqlSink } from '../../../src/audit.ts'
import { createActivity } from '../../../src/features/activity/activity-feature.ts'
import { Recorder } from '../../../src/features/activity/recorder.ts'
import { resolveAuditOptions } from '../../../src/features/activity/resolve-audit-options.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'
import { ownFolder } from '../../support/own-folder.ts'
import { SQLITE_ENGINES } from '../../support/sqlite-engines.ts'

const never = () => new Promise<never>(() => {})
const down = () => Promise.reject(new Error('down'))

function folder(): string {
  const path = ownFolder()
  return path
}

/** A sink in a file of SQLite that another process is writing to. */
function lockedSqlite(): AuditSink {
  const [Database] = Object.values(SQLITE_ENGINES)
  if (!Database) throw new Error('no package for SQLite')
  const path = join(folder(), 'audit.db')
  const other = new Database(path)
  other.exec('CREATE TABLE other (id)')
  other.exec('BEGIN EXCLUSIVE')
  onTestFinished(() => void other.close())
  return sqlSink({ path })
}

it.each<[string, () => AuditSink]>([
  [
    'that throws',
    () => ({
      write: () => {
        throw new Error('down')
      },
    }),
  ],
  ['that hangs', () => ({ write: never })],
  ['in a folder that is missing', () => jsonLinesSink(join(folder(), 'none', 'audit.jsonl'))],
  ['in a folder of SQLite that is missing', () => sqlSink({ path: join(folder(), 'none', 'audit.db') })],
  ['in a file of SQLite that is locked', lockedSqlite],
  ['in a PostgreSQL that is down', () => sqlSink({ pool: { query: down } })],
  ['in a PostgreSQL that hangs', () => sqlSink({ pool: { query: never } })],
])('a sink %s holds up no login', async (_, create) => {
  const sink = create()
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  let isWritten = false
  const observed: AuditSink = {
    async write(events) {
      begin()
      await sink.write(events)
      isWritten = true
    },
  }
  const audit = resolveAuditOptions({ sink: observed })
  const logged: unknown[] = []
  const logger = { warn: (line: string) => void logged.push(line), error() {} }
  const activity = createActivity({ audit, deadlineMs: 50, logger }, async (parts) => new Recorder(parts))
  const world = createLimiterWorld({ log: activity.log, settings: { maximum: 2, logic: 'logout_oldest' } })
  // A full batch is written at once.
  for (let epoch = 0; epoch < 100; epoch++) activity.log.note('logout.all', epoch, { kind: 'logout_all', at: epoch })
  await begun
  for (let login = 0; login < 3; login++) expect(await world.login('a')).toBeDefined()
  expect(await world.live('a')).toHaveLength(2)
  expect(isWritten).toBe(false)
  await activity.close()
  expect(logged).toEqual([
    expect.stringContaining('could not be written to the audit sink'),
    expect.stringMatching(/^1\d\d events were lost/),
  ])
})
