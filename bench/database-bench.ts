import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../test/support/postgres-server.ts'
import { measureRegistry, onPostgres, onSqlite } from './database-registry.ts'
import { inTurns, ratio, totals } from './in-turns.ts'
import { startApp } from './processes.ts'
import { judged, type Report } from './report.ts'
import { signedIn } from './request-bench.ts'

const CONNECTIONS = 16
const SESSIONS = 1000
const MANY = 1_000_000

/** Measures requests and logins with everything in PostgreSQL, and with everything in a SQLite file. */
export async function databaseBench(report: Report, effort: number): Promise<void> {
  const server = await startPostgres()
  const directory = mkdtempSync(join(tmpdir(), 'sessmgr-bench-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const rounds = Math.max(4, Math.round(40 * effort))

  report.heading(`\`GET /me\` with the sessions in a database, ${CONNECTIONS} connections`)
  report.table([
    ['', 'plain', 'protected', 'goal', 'CPU per request', 'statements per request', 'slices of each'],
    ...(await requests('PostgreSQL, connect-pg-simple', { DATABASE_HOST: server.host }, rounds, 1)),
    ...(await requests('SQLite', { DATABASE_FILE: join(directory, 'app.db') }, rounds, 0.95)),
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
): Promise<string[][]> {
  const isCounted = env.DATABASE_HOST !== undefined
  const results = await inTurns({
    kinds: ['plain', 'protected'] as const,
    connections: CONNECTIONS,
    rounds,
    start: (kind, node) => startApp('database-app.ts', { kind, node, env }),
    prepare: (app, load) => signedIn(app, load, SESSIONS),
    usage: async (app) => ({ commands: isCounted ? await app.ask('statements') : 0, serverCpu: 0 }),
  })
  return results.map(({ node, slices: { plain, protected: guarded } }) => {
    const reached = ratio(guarded, plain, 'perSecond')
    return [
      `${node.name}, ${name}`,
      `${totals(plain).perSecond.toFixed(0)} per second`,
      reached.text,
      judged(reached.value, { atLeast }),
      ratio(guarded, plain, 'cpu').text,
      isCounted ? `${totals(plain).commands.toFixed(2)}, ${totals(guarded).commands.toFixed(2)}` : '',
      String(rounds),
    ]
  })
}
