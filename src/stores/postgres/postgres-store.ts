import { invalidOption } from '../../ground/invalid-option.ts'
import { requireKnown } from '../../ground/option-checks.ts'
import { type DocumentStoreOptions, documentStore } from '../document/document-store.ts'
import { lateDriver } from '../document/late-driver.ts'
import { requireTableName } from '../document/table-schema.ts'
import type { SessmgrStore } from '../store.ts'
import { createPostgresTable, type PostgresPool, postgresDriver } from './postgres-driver.ts'

/** Where and how the store works. Leaving a key out, or undefined, means the default. */
export interface PostgresStoreOptions extends DocumentStoreOptions {
  /** A pool of the package pg, or anything with its `query(text, values)`. Connects to the primary; stays yours to close. */
  pool: PostgresPool
  /** The table, with its schema before a dot or without. `npx sessmgr schema postgres` prints it. @default 'sessmgr' */
  table?: string | undefined
  /** Whether to create the table if it is missing: for trying out. @default false */
  createTable?: boolean | undefined
}

const OPTIONS = ['pool', 'table', 'createTable', 'deadlineMs', 'logger']

/**
 * Remembers everything in one table of PostgreSQL, for any number of processes and machines.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * app.use(sessmgr({ store: postgresStore({ pool }) }))
 */
export function postgresStore(options: PostgresStoreOptions): SessmgrStore {
  checkOptions(options)
  const { pool, table = 'sessmgr', createTable = false, ...rest } = options
  const driver = postgresDriver(pool, table)
  if (!createTable) return documentStore(driver, rest)
  const create = async () => {
    await createPostgresTable(pool, table)
    return driver
  }
  return documentStore(lateDriver({ id: driver.id }, create), rest)
}

function checkOptions(options: PostgresStoreOptions): void {
  if ('query' in Object(options)) {
    throw invalidOption('The pool goes into the options: postgresStore({ pool }), not postgresStore(pool)')
  }
  requireKnown(options ?? {}, OPTIONS, (name) => `There is no option "${name}" of postgresStore()`)
  const { pool, table, createTable } = options ?? {}
  if (typeof pool?.query !== 'function') {
    throw invalidOption('"pool" is missing. Pass a pool of the package pg: postgresStore({ pool: new Pool() })')
  }
  if ('release' in pool) {
    throw invalidOption('"pool" is a client taken out of a pool, which may be in a transaction. Pass the pool itself')
  }
  if (table !== undefined) requireTableName(table)
  if (createTable !== undefined && typeof createTable !== 'boolean') {
    throw invalidOption(`"createTable" must be true or false; it is ${String(createTable)}`)
  }
}
