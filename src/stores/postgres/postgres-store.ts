import { invalidOption } from '../../ground/invalid-option.ts'
import { requireOptions } from '../../ground/option-checks.ts'
import { lateDriver } from '../document/document-driver.ts'
import { type DocumentStoreOptions, documentStore } from '../document/document-store.ts'
import { requireTableName } from '../document/table-schema.ts'
import type { SessmgrStore } from '../store.ts'
import { createPostgresTable, type PostgresPool, postgresDriver } from './postgres-driver.ts'
import { requirePool } from './require-pool.ts'

/** Options of postgresStore(). Omitted and undefined options have their defaults. */
export interface PostgresStoreOptions extends DocumentStoreOptions {
  /**
   * A pool from the pg package, or an object with its `query(text, values)`. It must connect to the primary. You close
   * it.
   */
  pool: PostgresPool
  /**
   * Name of the table, with an optional schema before a dot. `npx sessmgr schema postgres` prints its definition.
   * @default 'sessmgr'
   */
  table?: string | undefined
  /** Whether to create a missing table, for a quick start. @default false */
  createTable?: boolean | undefined
}

const OPTIONS = ['pool', 'table', 'createTable', 'deadlineMs', 'logger']

/**
 * Creates a store in one PostgreSQL table, for any number of processes and machines.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * app.use(sessmgr({ store: postgresStore({ pool }) }))
 */
export function postgresStore(options: PostgresStoreOptions): SessmgrStore {
  checkOptions(options)
  const { pool, table = 'sessmgr', createTable = false, ...rest } = options
  const driver = postgresDriver(pool, table)
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
  requireOptions('postgresStore', options ?? {}, OPTIONS)
  const { pool, table, createTable } = options ?? {}
  requirePool('postgresStore', pool)
  if (table !== undefined) requireTableName(table)
  if (createTable !== undefined && typeof createTable !== 'boolean') {
    throw invalidOption(`"createTable" must be true or false; got ${String(createTable)}`)
  }
}
