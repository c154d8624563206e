import {
  COLUMN_TYPES,
  checkCursor,
  createPostgresTable,
  type PostgresPool,
  quoteIndex,
  quoteName,
  requirePool,
  requireTableName,
  SqliteConnection,
  type SqliteDatabase,
  sqliteOpener,
} from '../../extend.ts'
import { rewordError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { requireMethods, requireOptions } from '../../ground/option-checks.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { AuditEvent, AuditSink } from '../../index.ts'
import { type AuditDatabase, conditionOf, countEvents, keyOf, type SqlValue } from './sql-events.ts'

/** Options of sqlSink(). Set exactly one of `pool`, `path` and `database`. */
export interface SqlSinkOptions {
  /** A pool from the pg package, as for `postgresStore()`. sessmgr does not close it. */
  readonly pool?: PostgresPool | undefined
  /** Path of a SQLite file, as for `sqliteStore()`. */
  readonly path?: string | undefined
  /** An open SQLite database, as for `sqliteStore()`. sessmgr does not close it. */
  readonly database?: SqliteDatabase | undefined
  /** Name of the table, which is created if it is missing. @default 'sessmgr_audit' */
  readonly table?: string | undefined
}

/** How many events one statement inserts. */
const BATCH = 100
/** How many rows one statement deletes. */
const DELETED = 5000

/**
 * Creates a sink that keeps events in a PostgreSQL or SQLite table.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * sessmgr({ store: postgresStore({ pool }), audit: { sink: sqlSink({ pool }) } })
 */
export function sqlSink(options: SqlSinkOptions): AuditSink & Required<Pick<AuditSink, 'forget'>> {
  const database = databaseOf(options)
  const { table } = database

  async function remove(condition: string, values: readonly SqlValue[]): Promise<number> {
    const statement = `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE ${condition} LIMIT ${DELETED})`
    for (let count = 0; ; ) {
      const deleted = await database.run(statement, values)
      count += deleted
      if (deleted < DELETED) return count
    }
  }

  /** Returns the time of the oldest event. */
  async function oldest(): Promise<number | undefined> {
    const [row] = await database.all(`SELECT min(at) AS at FROM ${table}`, [])
    const { at } = (row ?? {}) as { readonly at?: number | string | null }
    return at === undefined || at === null ? undefined : Number(at)
  }

  return {
    async write(events) {
      for (let start = 0; start < events.length; start += BATCH) {
        const batch = events.slice(start, start + BATCH)
        const rows = batch.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ')
        const statement = `INSERT INTO ${table} (id, at, type, kind, user_id, actor_id, ip, body) VALUES ${rows} ON CONFLICT (id) DO NOTHING`
        await database.run(statement, batch.flatMap(rowOf))
      }
    },
    async read({ limit, cursor, ...selection }) {
      checkCursor(cursor, /^\d{1,15}:[\w-]{1,64}$/)
      const [at, id] = cursor?.split(':') ?? []
      const [condition, values] = conditionOf(selection)
      const after = id === undefined ? '' : ' AND (at, id) < (?, ?)'
      const rows = (await database.all(
        `SELECT at, id, body FROM ${table} WHERE ${condition}${after} ORDER BY at DESC, id DESC LIMIT ?`,
        [...values, ...(id === undefined ? [] : [Number(at), id]), limit + 1],
      )) as readonly { readonly at: number | string; readonly id: string; readonly body: string }[]
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      return {
        events: page.map(({ body }) => JSON.parse(body) as AuditEvent),
        ...(last && { next: `${last.at}:${last.id}` }),
        since: await oldest(),
      }
    },
    count: async (query) => countEvents(database, query, await oldest()),
    prune: async (before) => void (await remove('at < ?', [before])),
    forget(user, before) {
      const [condition, values] = ['(user_id = ? OR actor_id = ?)', [keyOf(user), keyOf(user)]] as const
      return before === undefined ? remove(condition, values) : remove(`${condition} AND at < ?`, [...values, before])
    },
    close: () => database.close(),
  }
}

function rowOf(event: AuditEvent): readonly SqlValue[] {
  const { id, at, type, kind = null, user, actor, ip = null } = event
  const idOf = (who: UserId | undefined) => (who === undefined ? null : keyOf(who))
  return [id, Math.trunc(at), type, kind, idOf(user), idOf(actor), ip, JSON.stringify(event)]
}

function databaseOf(options: SqlSinkOptions): AuditDatabase {
  if ('query' in Object(options))
    throw invalidOption('Pass the pool as an option: sqlSink({ pool }), not sqlSink(pool)')
  requireOptions('sqlSink', options ?? {}, ['pool', 'path', 'database', 'table'])
  const { pool, path, database, table = 'sessmgr_audit' } = options ?? {}
  if ([pool, path, database].filter((one) => one !== undefined).length !== 1) {
    throw invalidOption("sqlSink() needs a pool from the pg package or a SQLite file: sqlSink({ path: 'audit.db' })")
  }
  requireTableName(table)
  if (pool !== undefined) {
    requirePool('sqlSink', pool)
    return postgresAudit(pool, table)
  }
  if (path !== undefined && (typeof path !== 'string' || path === '')) {
    throw invalidOption('"path" must be a file path')
  }
  if (database !== undefined) requireMethods('database', database, ['exec', 'prepare', 'close'])
  return sqliteAudit(database ?? (path as string), table)
}

const MISSING_TABLE = '42P01'

/** Opens the events table in PostgreSQL. Creates it when a statement finds it missing. */
function postgresAudit(pool: PostgresPool, name: string): AuditDatabase {
  const table = quoteName('postgres', name)

  async function query(statement: string, values: readonly SqlValue[]): Promise<readonly unknown[]> {
    let number = 0
    const text = statement.replaceAll('?', () => `$${++number}`)
    try {
      return (await pool.query(text, [...values])).rows
    } catch (error) {
      if (codeOf(error) !== MISSING_TABLE) throw reworded(error)
      await create()
      return (await pool.query(text, [...values])).rows
    }
  }

  async function create(): Promise<void> {
    try {
      await createPostgresTable(pool, name, auditSchema)
    } catch (error) {
      throw reworded(error)
    }
  }

  return {
    table,
    all: query,
    // Counts the returned rows, because some pool wrappers do not pass on the row count.
    run: async (statement, values) => (await query(`${statement} RETURNING 1`, values)).length,
    close: async () => {},
  }
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code)
}

/** Returns an error without PostgreSQL's details, which contain values. */
function reworded(error: unknown): Error {
  return rewordError(error, (text) => text)
}

/** Opens the events table in SQLite on first use. */
function sqliteAudit(source: string | SqliteDatabase, name: string): AuditDatabase {
  const openDatabase = typeof source === 'string' ? sqliteOpener(source, 'sqlSink') : () => source
  let opening: Promise<SqliteConnection> | undefined

  async function open(): Promise<SqliteConnection> {
    const connection = new SqliteConnection(openDatabase, { owned: typeof source === 'string' })
    await connection.prepare(auditSchema('sqlite', name))
    return connection
  }

  /** Returns the connection. After a failure, the next call opens it again. */
  function connection(): Promise<SqliteConnection> {
    opening ??= open().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }

  return {
    table: quoteName('sqlite', name),
    async all(statement, values) {
      const opened = await connection()
      return opened.patiently(() => opened.statement(statement).all(...values))
    },
    async run(statement, values) {
      const opened = await connection()
      return opened.inTurn(() => opened.write(statement, ...values))
    },
    async close() {
      const opened = await opening
      opened?.close()
    },
  }
}

/** Returns the statements that create the table unless it exists. */
function auditSchema(database: 'postgres' | 'sqlite', table: string): readonly string[] {
  const name = quoteName(database, table)
  const index = (columns: string) => quoteIndex(database, table, columns)
  const { key, number } = COLUMN_TYPES[database]
  return [
    `CREATE TABLE IF NOT EXISTS ${name} (
  id       ${key} PRIMARY KEY NOT NULL,
  at       ${number} NOT NULL,
  type     text NOT NULL,
  kind     text,
  user_id  text,
  actor_id text,
  ip       text,
  body     text NOT NULL
)`,
    // Counting reads only this index.
    `CREATE INDEX IF NOT EXISTS ${index('at')} ON ${name} (at, id, type, kind, user_id)`,
    `CREATE INDEX IF NOT EXISTS ${index('user_id')} ON ${name} (user_id, at, id, ip)`,
  ]
}
