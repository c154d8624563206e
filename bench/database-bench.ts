import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../test/support/postgres-server.ts'
import { measureRegistry, onPostgres, onSqlite } from './database-registry.ts'
import { cookieOf, getMe, httpLoad, postLogin } from './http-load.ts'
import { inTurns, ratios, type Subject, totals } from './in-turns.ts'
import { startDatabaseApp } from './processes.ts'
import { judged, type Report } from './report.ts'
import { each } from './request-bench.ts'
import { withQuartiles } from './statistics.ts'

const CONNECTIONS = 16
const SESSIONS = 1000
const SLICE_MS = 150
const MANY = 1_000_000

/** Measures requests and logins with everything in PostgreSQL, and with everything in a SQLite file. */
export async function databaseBench(report: Report, effort: number): Promise<void> {
  const server = await startPostgres()
  const directory = mkdtempSync(join(tmpdir(), 'sessmgr-bench-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const rounds = Math.max(4, Math.round(40 * effort))

  report.heading(`\`GET /me\` with the sessions in a database, ${CONNECTIONS} connections`)
  report.table([
    [
      '',
      'plain',
      'protected',
      'goal',
      'CPU per request',
      'statements per request',
      'of sessmgr in one turn',
      'goal',
      'slices of each',
    ],
    await requests('PostgreSQL, connect-pg-simple', { DATABASE_HOST: server.host }, rounds, 1),
    await requests('SQLite', { DATABASE_FILE: join(directory, 'app.db') }, rounds, 0.95),
  ])

  const rows = Math.round(MANY * Math.min(1, effort))
  const pool = server.pool()
  const databases = [onPostgres(pool), onSqlite(join(directory, 'registry.db'))]
  const measured = []
  for (const database of databases) measured.push(...(await measureRegistry(database, rows)))
  report.heading('The registry in a database')
  report.table([['', 'value', 'goal', 'samples'], ...measured])
  await server.stop()
}

async function requests(
  name: string,
  env: Record<string, string>,
  rounds: number,
  atLeast: number,
): Promise<readonly string[]> {
  const subjects: Subject[] = []
  for (const kind of ['plain', 'protected'] as const) {
    const app = await startDatabaseApp(kind, env)
    const load = await httpLoad(app.port, CONNECTIONS)
    const heads = await load.all(Array.from({ length: SESSIONS }, (_, user) => postLogin(`${kind}-${user}`)))
    subjects.push({ name: kind, app, load, next: each(heads.map(cookieOf).map(getMe)) })
  }
  const guardedApp = subjects[1]?.app
  // Logins send several statements at once.
  await guardedApp?.ask('mostInOneTurn')
  const isCounted = env.DATABASE_HOST !== undefined
  const commands = async ({ ask }: Subject['app']) => (isCounted ? ask('statements') : 0)
  const slices = await inTurns(subjects, { rounds, sliceMs: SLICE_MS, commands })
  const most = (await guardedApp?.ask('mostInOneTurn')) ?? 0
  for (const { app, load } of subjects) {
    load.close()
    app.stop()
  }
  const [plain = [], guarded = []] = ['plain', 'protected'].map((kind) => slices.get(kind))
  const { perSecond, perSecondRounds, cpu, cpuRounds } = ratios(guarded, plain)
  return [
    name,
    `${totals(plain).perSecond.toFixed(0)} per second`,
    withQuartiles(perSecond, perSecondRounds),
    judged(perSecond, { atLeast }),
    withQuartiles(cpu, cpuRounds),
    isCounted ? `${totals(plain).commands.toFixed(2)}, ${totals(guarded).commands.toFixed(2)}` : '',
    isCounted ? String(most) : '',
    isCounted ? judged(most, { atMost: 1 }) : '',
    String(plain.length),
  ]
}
