import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../test/support/postgres-server.ts'
import { postLogin } from './http-load.ts'
import { inTurns, ratio, totals } from './in-turns.ts'
import { type BenchApp, NODES, startApp, startRedis } from './processes.ts'
import { judged, type Report } from './report.ts'

/** Long enough for what a store collects and writes later to fall into the slice. */
const SLICE_MS = 2500
type Option = 'directory' | 'audit'
type Started = 'protected' | Option

/** Measures what an option costs a login, with the store on Redis and in databases. */
export async function loginOptions(report: Report, effort: number): Promise<void> {
  const rounds = Math.max(3, Math.round(10 * effort))
  const [server, postgres] = [await startRedis(), await startPostgres()]
  const folder = mkdtempSync(join(tmpdir(), 'sessmgr-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const inDatabase = (kind: Started, env: Record<string, string>) => startApp('database-app.ts', { kind, env })
  const stores: Record<string, readonly [options: readonly Option[], start: (kind: Started) => Promise<BenchApp>]> = {
    Redis: [['directory'], (kind) => startApp('app.ts', { kind, env: { REDIS_URL: server.url } })],
    PostgreSQL: [['directory', 'audit'], (kind) => inDatabase(kind, { DATABASE_HOST: postgres.host })],
    SQLite: [['directory', 'audit'], (kind) => inDatabase(kind, { DATABASE_FILE: join(folder, `${kind}.db`) })],
  }
  const rows = [['', 'without', 'logins per second', 'CPU per login', 'goal', 'slices of each']]
  for (const [store, [options, start]] of Object.entries(stores)) {
    rows.push(...(await compared(store, options, start, rounds)))
  }
  report.heading('Logins with an option ÷ without, 16 connections, a new user each time')
  report.table(rows)
  server.stop()
  await postgres.stop()
}

/** Compares each of the options with none. */
async function compared(
  store: string,
  options: readonly Option[],
  start: (kind: Started) => Promise<BenchApp>,
  rounds: number,
): Promise<readonly string[][]> {
  let index = 0
  const [result] = await inTurns({
    kinds: ['protected', ...options],
    nodes: NODES.slice(0, 1),
    connections: 16,
    rounds,
    sliceMs: SLICE_MS,
    start,
    prepare: async (_app, _load, kind) => () => postLogin(`${kind}${index++}`),
  })
  if (result === undefined) return []
  const without = result.slices.protected
  return options.map((option) => {
    const reached = ratio(result.slices[option], without, 'perSecond')
    return [
      `\`${option}\`, ${store}`,
      `${totals(without).perSecond.toFixed(0)} per second`,
      reached.text,
      ratio(result.slices[option], without, 'cpu').text,
      judged(reached.value, { atLeast: 0.95 }),
      String(rounds),
    ]
  })
}
