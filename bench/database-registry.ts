import Database from 'libsql'
import type { Pool } from 'pg'
import { postgresStore } from 'sessmgr/postgres'
import { sqliteStore } from 'sessmgr/sqlite'
import type { SessmgrStore } from '../src/stores/store.ts'
import { admit, sessionIdOf, USER_AGENT } from './registry-bench.ts'
import { judged } from './report.ts'
import { median, timesInTurns, withQuartiles } from './statistics.ts'

const SAMPLES = 3000
/** Medians of this many samples are compared, to see how much they vary. */
const SERIES = 300
const USERS = 1000
const BODY = `{"v":1,"s":[{"i":"${'x'.repeat(32)}","a":1,"l":1,"x":9e15,"g":0,"ip":"203.0.113.77","ua":"${USER_AGENT}"}]}`

/** A database with the table of sessmgr, in which rows are read and written as any application would. */
interface MeasuredDatabase {
  readonly name: string
  /** Stores on the same table, by what differs. */
  readonly stores: Readonly<Record<string, SessmgrStore>>
  fill(rows: number): Promise<unknown>
  readRow(index: number): Promise<unknown>
  writeRow(index: number): Promise<unknown>
  /** Runs a task and counts the rows that were written in the meantime. */
  written(task: () => Promise<unknown>): Promise<number>
}

export function onPostgres(pool: Pool): MeasuredDatabase {
  return {
    name: 'PostgreSQL',
    stores: {
      '': postgresStore({ pool, createTable: true }) as SessmgrStore,
      ', prepared': postgresStore({ pool, prepare: true }) as SessmgrStore,
    },
    async fill(rows) {
      const sql = `INSERT INTO sessmgr SELECT 'u:filled' || n, 1, $1, NULL FROM generate_series(0, $2::int - 1) n`
      await pool.query(sql, [BODY, rows])
      await pool.query('VACUUM ANALYZE sessmgr')
    },
    readRow: (index) => pool.query('SELECT revision, body FROM sessmgr WHERE id = $1', [`u:filled${index}`]),
    writeRow: (index) =>
      pool.query('UPDATE sessmgr SET revision = revision + 1, body = $2 WHERE id = $1', [`u:filled${index}`, BODY]),
    async written(task) {
      const { rows: before } = await pool.query('SELECT txid_current() AS id')
      await task()
      const sql = 'SELECT count(*) AS written FROM sessmgr WHERE xmin::text::bigint > $1'
      const { rows: after } = await pool.query(sql, [before[0].id])
      return Number(after[0].written)
    },
  }
}

export function onSqlite(path: string): MeasuredDatabase {
  const database = new Database(path)
  const run = (sql: string, ...values: unknown[]) => database.prepare(sql).run(...values)
  const read = once(() => database.prepare('SELECT revision, body FROM sessmgr WHERE id = ?'))
  const write = once(() => database.prepare('UPDATE sessmgr SET revision = revision + 1, body = ? WHERE id = ?'))
  const changes = () => (database.prepare('SELECT total_changes() AS count').all()[0] as { count: number }).count
  return {
    name: 'SQLite',
    stores: { '': sqliteStore({ database }) as SessmgrStore },
    async fill(rows) {
      const sql = `WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ? - 1)
        INSERT INTO sessmgr SELECT 'u:filled' || n, 1, ?, NULL FROM n`
      run(sql, rows, BODY)
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    },
    readRow: async (index) => read().all(`u:filled${index}`),
    writeRow: async (index) => write().run(BODY, `u:filled${index}`),
    async written(task) {
      const before = changes()
      await task()
      return changes() - before
    },
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Returns the table rows about logins and about a site-wide logout. */
export async function measureRegistry(database: MeasuredDatabase, rows: number): Promise<string[][]> {
  const { name, stores } = database
  for (const store of Object.values(stores)) await store.epoch.current()
  await database.fill(rows)
  const admissions = Object.entries(stores).map(([variant, store]) => {
    const run = (index: number) => admit(store, index % USERS, sessionIdOf(`${performance.now()} ${index}`))
    return [variant, run] as const
  })
  const runs = {
    ...Object.fromEntries(admissions),
    async statements(index: number) {
      await database.readRow(index % USERS)
      await database.writeRow(index % USERS)
    },
  }
  await timesInTurns(SERIES, runs)
  const times: Record<string, number[]> = await timesInTurns(SAMPLES, runs)
  const { statements = [] } = times
  const all = rows.toLocaleString('en')
  const ratios = Object.keys(stores).map((variant) => {
    const { [variant]: own = [] } = times
    const ratioOf = (start: number, end: number) => median(own.slice(start, end)) / median(statements.slice(start, end))
    const series = Array.from({ length: SAMPLES / SERIES }, (_, part) => ratioOf(part * SERIES, (part + 1) * SERIES))
    const [ratio, us] = [ratioOf(0, SAMPLES), [own, statements].map((each) => `${(median(each) * 1000).toFixed(0)} µs`)]
    return [
      `${name}${variant}: admission p50 ÷ two single-row statements, ${all} rows`,
      `${withQuartiles(ratio, series)}: ${us.join(' ÷ ')}`,
      judged(ratio, { atMost: 1.3 }),
      `${SAMPLES.toLocaleString('en')} of each, in turns`,
    ]
  })
  let logout: readonly number[] = []
  const written = await database.written(async () => {
    logout = (await timesInTurns(1, { advance: async () => stores['']?.epoch.advance() })).advance
  })
  const siteWide = `${name}: rows written by a site-wide logout, ${all} rows`
  const took = `${written}, in ${(logout[0] ?? 0).toFixed(1)} ms`
  return [...ratios, [siteWide, took, judged(written, { atMost: 1 }), '1']]
}
