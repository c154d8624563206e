import { hash } from 'node:crypto'
import { rewordError } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { requireOptions } from '../ground/option-checks.ts'
import { type DocumentDriver, lateDriver } from './document/document-driver.ts'
import { expiryStep } from './document/document-rows.ts'
import { type DocumentStoreOptions, documentStore } from './document/document-store.ts'
import { quoteName, requireTableName, tableSchema } from './document/table-schema.ts'
import { PostgresSignals } from './postgres-signals.ts'
import type { SessmgrStore } from './store.ts'

/** A PostgreSQL connection pool from the pg package, or anything with a compatible `query` method. */
export interface PostgresPool {
  /** Runs one statement with its values. */
  query(
    text: string,
    values?: unknown[],
  ): PromiseLike<{
    /** The returned rows. */
    readonly rows: readonly unknown[]
  }>
}

/** Options of postgresStore(). Omitted and undefined options use their defaults. */
export interface PostgresStoreOptions extends DocumentStoreOptions {
  /**
   * A pool from the pg package, or an object with the same `query(text, values)`. Must connect to the primary. You
   * close it.
   */
  pool: PostgresPool
  /**
   * Name of the table, with an optional schema before a dot. `npx sessmgr schema postgres` prints its definition.
   * @default 'sessmgr'
   */
  table?: string | undefined
  /** Whether to create the table if it is missing, for a quick start. @default false */
  createTable?: boolean | undefined
  /**
   * Whether to use prepared statements, which take less time. Needs a pool from pg, or one with the same `query({ name,
   * text, values })`. Not for PgBouncer before 1.21, or with `max_prepared_statements` set to 0.
   * @default false
   */
  prepare?: boolean | undefined
}

const OPTIONS = ['pool', 'table', 'createTable', 'prepare', 'deadlineMs', 'logger']

/**
 * Creates a store in one PostgreSQL table, for any number of processes and machines.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * app.use(sessmgr({ store: postgresStore({ pool }) }))
 */
export function postgresStore(options: PostgresStoreOptions): SessmgrStore {
  checkOptions(options)
  const { pool, table = 'sessmgr', createTable = false, prepare = false, ...rest } = options
  const driver = postgresDriver(pool, table, prepare)
  const create = async () => {
    await createPostgresTable(pool, table)
    return driver
  }
  return { ...documentStore(createTable ? lateDriver(driver, create) : driver, rest), name: 'postgres' }
}

function checkOptions(options: PostgresStoreOptions): void {
  if ('query' in Object(options)) {
    throw invalidOption('Pass the pool as an option: postgresStore({ pool }), not postgresStore(pool)')
  }
  if ('connectionString' in Object(options)) {
    throw invalidOption('Pass a pool from the pg package: postgresStore({ pool: new Pool({ connectionString }) })')
  }
  requireOptions('postgresStore', options ?? {}, OPTIONS, { createTableIfMissing: 'createTable', tableName: 'table' })
  const { pool, table, ...flags } = options ?? {}
  requirePool('postgresStore', pool)
  if (table !== undefined) requireTableName(table)
  for (const name of ['createTable', 'prepare'] as const) {
    if (flags[name] === undefined || typeof flags[name] === 'boolean') continue
    throw invalidOption(`"${name}" must be true or false; got ${String(flags[name])}`)
  }
}

/**
 * Rejects anything except a connection pool.
 *
 * @param caller Function that the message names.
 * @throws SessmgrError `invalid_option`.
 */
export function requirePool(caller: string, pool: unknown): void {
  if (typeof Object(pool).query !== 'function') {
    throw invalidOption(`"pool" is missing. Pass a pool from the pg package: ${caller}({ pool: new Pool() })`)
  }
  // Clients taken from a pool have the first property, standalone clients the second. A pool has neither.
  if ('release' in Object(pool) || 'connectionParameters' in Object(pool)) {
    throw invalidOption('"pool" is a single client, which may be in a transaction. Pass the pool itself')
  }
}

interface FoundRow {
  readonly now: string | number
  readonly id: string | null
  readonly revision: string
  readonly body: string
}

/** The error code of a statement that lost to a concurrent one. Occurs only above the default isolation level. */
const SERIALIZATION_FAILURE = '40001'
const MAX_TRIES = 5

/** Returns a driver that stores rows in a PostgreSQL table, with one statement per call. */
export function postgresDriver(pool: PostgresPool, name: string, prepare = false): DocumentDriver {
  const table = quoteName('postgres', name)
  const signals = new PostgresSignals(pool, name)
  const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
  // The statements return rows, because some pool wrappers do not pass on the row count.
  const get = `SELECT t.now, s.id, s.revision, s.body FROM (SELECT ${now} AS now) t LEFT JOIN ${table} s
    ON s.id = ANY($1::text[]) AND (s.expires_at IS NULL OR s.expires_at > t.now)`
  const expiry = (life: string, step: string) => `(${now} + ${life}::bigint - 1) / ${step}::bigint * ${step} + ${step}`
  const update = `UPDATE ${table} SET revision = $2, body = $3, expires_at = ${expiry('$4', '$5')}
    WHERE id = $1 AND revision = $6 RETURNING 1`
  const insert = `INSERT INTO ${table} AS s (id, revision, body, expires_at)
    VALUES ($1, $2, $3, ${expiry('$4', '$5')}) ON CONFLICT (id) DO UPDATE SET revision = excluded.revision,
    body = excluded.body, expires_at = excluded.expires_at WHERE s.expires_at <= ${now} RETURNING 1`
  const purge = `DELETE FROM ${table} WHERE expires_at <= ${now} AND id IN
    (SELECT id FROM ${table} WHERE expires_at <= ${now} LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING 1`
  const run = prepare ? preparing(pool) : pool.query.bind(pool)
  const query = async (text: string, values: unknown[] = []) => {
    try {
      return (await run(text, values)).rows
    } catch (error) {
      throw explained(error, name)
    }
  }
  const retry = async (text: string, values: unknown[] = []) => {
    for (let tries = 1; ; tries++) {
      try {
        return await query(text, values)
      } catch (error) {
        if (tries === MAX_TRIES || !isSerializationFailure(error)) throw error
      }
    }
  }
  return {
    async get(keys) {
      const found = (await retry(get, [keys])) as readonly FoundRow[]
      const rows = found.flatMap(({ id, revision, body }) =>
        id === null ? [] : [[id, { revision, text: body }] as const],
      )
      return { now: Number(found[0]?.now), rows: new Map(rows) }
    },
    async swap(key, before, { revision, text }, lifeMs) {
      const values = [key, revision, text, lifeMs ?? null, expiryStep(key, lifeMs)]
      const [statement, at] = before === undefined ? [insert, []] : [update, [before]]
      try {
        return (await query(statement, [...values, ...at])).length === 1
      } catch (error) {
        if (isSerializationFailure(error)) return false
        throw error
      }
    },
    purge: async (count) => (await retry(purge, [count])).length,
    wipe: async () => void (await retry(`DELETE FROM ${table}`)),
    signals,
    close: () => signals.close(),
  }
}

function isSerializationFailure(error: unknown): boolean {
  return (error as { code?: unknown }).code === SERIALIZATION_FAILURE
}

/**
 * Error codes of a statement that the connection has not prepared, or has prepared differently, or whose table has
 * changed.
 */
const NOT_PREPARED = ['26000', '42P05', '0A000']
const MOST_RENAMES = 10

/**
 * Returns a function that runs prepared statements. A statement that the server no longer knows has not run, so it is
 * sent again, unprepared. From then on, statements have other names.
 */
function preparing(pool: PostgresPool): PostgresPool['query'] {
  const names = new Map<string, string>()
  let renames = 0
  return async (text, values) => {
    const tried = renames
    // A hash, because behind a pooler, other applications may have prepared statements on the same connection.
    const name = names.get(text) ?? `sessmgr_${hash('sha256', text).slice(0, 32)}`
    names.set(text, name)
    const prepared = { name: `${name}_${tried}`, text, values }
    try {
      if (tried < MOST_RENAMES) return await pool.query(prepared as unknown as string)
    } catch (error) {
      if (!NOT_PREPARED.includes(String((error as { code?: unknown }).code))) throw error
      // A change to the table breaks the statements on all connections, but one rename is enough for all.
      if (renames === tried) renames += 1
    }
    return pool.query(text, values)
  }
}

/**
 * Creates a table unless it exists.
 *
 * @param schema Returns the statements.
 */
export async function createPostgresTable(
  pool: PostgresPool,
  table: string,
  schema: (database: 'postgres', table: string) => readonly string[] = tableSchema,
): Promise<void> {
  for (const statement of schema('postgres', table)) {
    try {
      await pool.query(statement)
    } catch (error) {
      // These codes mean that another process has created the table at the same moment.
      if (!['23505', '42710', '42P07'].includes(String((error as { code?: unknown }).code))) throw error
    }
  }
}

const OTHER_TABLE =
  'This version of sessmgr cannot use this table. Name another table, or create one with the output of ' +
  '"npx sessmgr schema postgres"'

/** Advice for errors that only an operator can fix, by PostgreSQL code. */
const ADVICE: Readonly<Record<string, string>> = {
  '42P01': 'Create the table with the output of "npx sessmgr schema postgres"',
  '42703': OTHER_TABLE,
  '42804': OTHER_TABLE,
  '42883': OTHER_TABLE,
  '42P10': OTHER_TABLE,
  '42809': OTHER_TABLE,
  '42501': 'Grant the database user SELECT, INSERT, UPDATE and DELETE on the table',
  '25006': 'The connection is read-only or leads to a replica. Connect to the primary: target_session_attrs=read-write',
  '25P02':
    'The connection is inside a transaction that your application started. Pass a pool to postgresStore(), not a client',
}

/** Adds advice to an error. Leaves out PostgreSQL's details, which may contain session ids. */
function explained(error: unknown, table: string): Error {
  const advice = ADVICE[String((error as { code?: unknown })?.code)]
  return rewordError(error, (text) => (advice === undefined ? text : `${text} (table ${table}). ${advice}`))
}
