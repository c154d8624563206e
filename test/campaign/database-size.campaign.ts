import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DocumentDriver } from '../../src/document.ts'
import type { SessmgrStore } from '../../src/index.ts'
import { postgresStore } from '../../src/postgres.ts'
import { MOST_SESSIONS } from '../../src/sessions/session-registry.ts'
import { sqliteStore } from '../../src/sqlite.ts'
import { postgresDriver } from '../../src/stores/postgres-store.ts'
import { SqliteDriver } from '../../src/stores/sqlite-store.ts'
import { newSession } from '../contracts/store/store-case.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { printFigures } from '../support/print-figures.ts'
import { SQLITE_ENGINES } from '../support/sqlite-engines.ts'

const EXPIRED = 2_000_000
/** As many as one write in a hundred deletes. */
const BATCH = 200
const SESSIONS = 2000
const DEADLINE_MS = 2000
const LONG = 3_600_000

let server: PostgresServer
let directory: string
beforeAll(async () => {
  server = await startPostgres()
  directory = mkdtempSync(join(tmpdir(), 'sessmgr-size-'))
})
afterAll(async () => {
  await server?.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Logs a user in, and returns how long that took. */
async function logIn({ sessions }: SessmgrStore, userId: number | string, sessionId: string): Promise<number> {
  const start = performance.now()
  for (;;) {
    const read = await sessions.read(userId)
    const { committed } = await sessions.commit(userId, read, { admit: newSession(sessionId, LONG), end: [] })
    if (committed) return performance.now() - start
  }
}

function summary(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => Number(sorted[Math.floor((sorted.length - 1) * part)]?.toFixed(1))
  return { logins: times.length, p50Ms: at(0.5), p99Ms: at(0.99), slowestMs: at(1) }
}

interface Database {
  readonly store: SessmgrStore
  readonly driver: DocumentDriver
  /** Runs one statement that writes. */
  run(sql: string): Promise<unknown>
  count(): Promise<number>
}

const databases: Record<string, () => Promise<Database>> = {
  async PostgreSQL() {
    const pool = server.pool()
    const count = async () => Number((await pool.query('SELECT count(*) FROM sessmgr')).rows[0].count)
    const store = postgresStore({ pool, createTable: true })
    return { store, driver: postgresDriver(pool, 'sessmgr'), run: (sql) => pool.query(sql), count }
  },
  async SQLite() {
    const path = join(directory, 'sessmgr.db')
    const Database = SQLITE_ENGINES.libsql as NonNullable<typeof SQLITE_ENGINES.libsql>
    const database = new Database(path)
    const options = { local: false, table: 'sessmgr', clock: undefined, owned: false }
    const driver = new SqliteDriver(() => database, options)
    await driver.open()
    const count = async () =>
      Number(Object.values(database.prepare('SELECT count(*) FROM sessmgr').all()[0] as object)[0])
    return { store: sqliteStore({ path }), driver, run: async (sql) => database.exec(sql), count }
  },
}

const series = (last: number) =>
  `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${last}) SELECT 't:old' || n, '1', '', 1 FROM n`

describe.each(Object.entries(databases))('%s', (name, open) => {
  it(`purges ${EXPIRED.toLocaleString('en')} expired rows without stopping logins`, async () => {
    const { store, driver, run, count } = await open()
    await store.epoch.current()
    const before: number[] = []
    for (let n = 0; n < 500; n++) before.push(await logIn(store, n, `before ${n}`))
    await run(`INSERT INTO sessmgr (id, revision, body, expires_at) ${series(EXPIRED)}`)

    let purged = 0
    let purging = true
    const purge = (async () => {
      for (let deleted = BATCH; deleted === BATCH; purged += deleted) {
        deleted = await driver.purge(BATCH)
        await sleep(0)
      }
      purging = false
    })()
    const during: number[] = []
    for (let n = 0; purging; n++) during.push(await logIn(store, n % 500, `during ${n}`))
    await purge
    printFigures(`${name}: before`, summary(before))
    printFigures(`${name}: while ${purged} rows are purged`, summary(during))
    expect(await count()).toBeLessThan(1000)
    expect(Math.max(...during)).toBeLessThan(DEADLINE_MS)
    await store.wipe()
    await store.close()
  })

  it(`serves an account through which ${SESSIONS} sessions pass, each call within the deadline`, async () => {
    const { store } = await open()
    const times: number[] = []
    for (let n = 0; n < SESSIONS; n++) times.push(await logIn(store, 'busy', `busy ${n}`))
    const start = performance.now()
    expect((await store.sessions.read('busy')).sessions).toHaveLength(MOST_SESSIONS)
    const listed = performance.now()
    expect(await store.sessions.end('busy')).toHaveLength(MOST_SESSIONS)
    const endMs = Math.round(performance.now() - listed)
    printFigures(`${name}: ${SESSIONS} sessions of one account`, {
      ...summary(times),
      listMs: Math.round(listed - start),
      endMs,
    })
    expect(Math.max(...times, listed - start, endMs)).toBeLessThan(DEADLINE_MS)
    await store.close()
  })
})
