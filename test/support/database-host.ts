import connectPgSimple from 'connect-pg-simple'
import session from 'express-session'
import type { Pool } from 'pg'
import { SqliteSessions } from '../../examples/express-app/sqlite-sessions.ts'
import type { SessmgrStore } from '../../src/index.ts'
import { postgresStore } from '../../src/postgres.ts'
import { sqliteStore } from '../../src/sqlite.ts'
import { type ExpressHost, openExpressHost } from './express-host.ts'

const PgSessions = connectPgSimple(session)

/** A database that contains the sessions of an application and sessmgr's data. */
export interface OpenDatabase {
  readonly sessionStore: session.Store & { close(): unknown }
  readonly store: SessmgrStore
}

/** Opens both over one PostgreSQL pool, which stays open. */
export function openOnPostgres(pool: Pool, deadlineMs?: number): OpenDatabase {
  const sessionStore = new PgSessions({
    pool,
    createTableIfMissing: true,
    pruneSessionInterval: false,
    errorLog: () => {},
  })
  return { sessionStore, store: postgresStore({ pool, createTable: true, deadlineMs }) }
}

/** Opens both in one file of SQLite. */
export function openOnSqlite(path: string): OpenDatabase {
  return { sessionStore: new SqliteSessions(path), store: sqliteStore({ path }) }
}

/** Starts one process of an application on a database, with at most two sessions per user by default. */
export async function startDatabaseHost(
  { sessionStore, store }: OpenDatabase,
  { deadlineMs, maximum = 2 }: { deadlineMs?: number; maximum?: number } = {},
) {
  const host: ExpressHost = await openExpressHost({
    settings: { maximum, logic: 'logout_oldest' },
    sessmgr: { store, sessionStore, deadlineMs },
    store: sessionStore,
    expressErrors: true,
  })
  const stop = async () => {
    await host.close()
    await store.close()
    sessionStore.close()
  }
  return { ...host, stop }
}
