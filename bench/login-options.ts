import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../test/support/postgres-server.ts'
import { httpLoad, postLogin } from './http-load.ts'
import { inTurns, ratios, totals } from './in-turns.ts'
import { type BenchApp, startApp, startDatabaseApp } from './processes.ts'
import { judged, type Report } from './report.ts'
import { withQuartiles } from './statistics.ts'

/** The options that are each compared with none. */
const OPTIONS = ['directory', 'audit'] as const
/** Long enough for what a store collects and writes later to fall into the slice. */
const SLICE_MS = 2500
type Started = 'protected' | (typeof OPTIONS)[number]

/** Measures what an option costs a login, with the store on Redis and in databases. */
export async function loginOptions(report: Report, redisUrl: string, rounds: number): Promise<void> {
  const postgres = await startPostgres()
  const folder = mkdtempSync(join(tmpdir(), 'sessmgr-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const stores: Record<string, (kind: Started) => Promise<BenchApp>> = {
    Redis: (kind) => startApp(kind, redisUrl),
    PostgreSQL: (kind) => startDatabaseApp(kind, { DATABASE_HOST: postgres.host }),
    SQLite: (kind) => startDatabaseApp(kind, { DATABASE_FILE: join(folder, `${kind}.db`) }),
  }
  const rows = [['', 'without', 'logins per second', 'CPU per login', 'goal', 'slices of each']]
  for (const [store, start] of Object.entries(stores)) rows.push(...(await compared(store, start, rounds)))
  report.heading('Logins with an option ÷ without, 16 connections, a new user each time')
  report.table(rows)
  await postgres.stop()
}

async function compared(
  store: string,
  start: (kind: Started) => Promise<BenchApp>,
  rounds: number,
): Promise<readonly string[][]> {
  let index = 0
  const subjects = []
  for (const name of ['protected', ...OPTIONS] as const) {
    const app = await start(name)
    const next = () => postLogin(`${name}${index++}`)
    subjects.push({ name, app, load: await httpLoad(app.port, 16), next })
  }
  const slices = await inTurns(subjects, { rounds: Math.ceil(rounds / 4), sliceMs: SLICE_MS, commands: async () => 0 })
  for (const { app, load } of subjects) {
    load.close()
    app.stop()
  }
  const without = slices.get('protected') ?? []
  return OPTIONS.map((option) => {
    const { perSecond, perSecondRounds, cpu, cpuRounds } = ratios(slices.get(option) ?? [], without)
    return [
      `\`${option}\`, ${store}`,
      `${totals(without).perSecond.toFixed(0)} per second`,
      withQuartiles(perSecond, perSecondRounds),
      withQuartiles(cpu, cpuRounds),
      judged(perSecond, { atLeast: 0.95 }),
      String(without.length),
    ]
  })
}
