import { COLUMN_TYPES, quoteIndex, quoteName } from '../../../stores/document/table-schema.ts'

export type SqlValue = string | number | null

/** A database with the table of the events. Statements have `?` for their values. */
export interface AuditDatabase {
  /** Quoted name of the table. */
  readonly table: string
  /** Returns all rows. */
  all(statement: string, values: readonly SqlValue[]): Promise<readonly unknown[]>
  /** Returns how many rows have changed. */
  run(statement: string, values: readonly SqlValue[]): Promise<number>
  close(): Promise<void>
}

/** Returns the statements that create the table unless it exists. */
export function auditSchema(database: 'postgres' | 'sqlite', table: string): readonly string[] {
  const name = quoteName(database, table)
  const index = (columns: string) => quoteIndex(database, table, columns)
  const { key, number } = COLUMN_TYPES[database]
  return [
    `CREATE TABLE IF NOT EXISTS ${name} (
  id       ${key} PRIMARY KEY NOT NULL,
  at       ${number} NOT NULL,
  type     text NOT NULL,
  user_id  text,
  actor_id text,
  body     text NOT NULL
)`,
    `CREATE INDEX IF NOT EXISTS ${index('at')} ON ${name} (at, id)`,
    `CREATE INDEX IF NOT EXISTS ${index('user_id')} ON ${name} (user_id, at, id)`,
  ]
}
