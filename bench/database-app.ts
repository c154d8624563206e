// An application whose sessions are in PostgreSQL or in a SQLite file, with and without sessmgr on the same database.
import connectPgSimple from 'connect-pg-simple'
import session from 'express-session'
import { Pool } from 'pg'
import { type SessmgrStore, sessmgr } from 'sessmgr'
import { type SqlSinkOptions, sqlSink } from 'sessmgr/audit'
import { postgresStore } from 'sessmgr/postgres'
import { sqliteStore } from 'sessmgr/sqlite'
import { SqliteSessions } from '../examples/express-app/sqlite-sessions.ts'
import { serveApp } from './serve-app.ts'

const kind = process.argv[2]
const { DATABASE_HOST: host, DATABASE_FILE: path = '' } = process.env

let statements = 0
const { sessionStore, store, audit } = host === undefined ? onSqlite() : onPostgres(host)
serveApp({
  store: sessionStore,
  limiter:
    kind === 'plain'
      ? undefined
      : sessmgr({
          store,
          settings: { maximum: 10, logic: 'logout_oldest' },
          directory: kind === 'directory',
          audit: kind === 'audit' ? { sink: sqlSink(audit) } : undefined,
        }),
  numbers: { statements: () => statements },
})

interface Stores {
  readonly sessionStore: session.Store
  readonly store: SessmgrStore
  readonly audit: SqlSinkOptions
}

function onPostgres(host: string): Stores {
  const pool = new Pool({ host, user: 'test', database: 'postgres' })
  const { query } = pool
  pool.query = ((...call: unknown[]) => {
    statements += 1
    return Reflect.apply(query, pool, call)
  }) as typeof query
  const PgSessions = connectPgSimple(session)
  return {
    sessionStore: new PgSessions({ pool, createTableIfMissing: true }),
    store: postgresStore({ pool, createTable: true }),
    audit: { pool },
  }
}

function onSqlite(): Stores {
  return { sessionStore: new SqliteSessions(path), store: sqliteStore({ path }), audit: { path } }
}
