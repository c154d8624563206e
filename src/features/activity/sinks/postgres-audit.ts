import { rewordError } from '../../../ground/error-text.ts'
import { quoteName } from '../../../stores/document/table-schema.ts'
import { createPostgresTable, type PostgresPool } from '../../../stores/postgres/postgres-driver.ts'
import { type AuditDatabase, auditSchema, type SqlValue } from './audit-database.ts'

const MISSING_TABLE = '42P01'

/** Opens the table of the events in PostgreSQL. It is created when it is first found missing. */
export function postgresAudit(pool: PostgresPool, name: string): AuditDatabase {
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
    // Returns rows instead of a row count, which some pool wrappers do not pass on.
    run: async (statement, values) => (await query(`${statement} RETURNING 1`, values)).length,
    close: async () => {},
  }
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code)
}

/** Leaves out PostgreSQL's details, which contain values. */
function reworded(error: unknown): Error {
  return rewordError(error, (text) => text)
}
