import { invalidOption } from '../../ground/invalid-option.ts'

/** Databases whose table sessmgr can describe. */
export const SCHEMAS = ['postgres', 'sqlite', 'mysql'] as const

/** A database whose table sessmgr can describe. */
export type SchemaName = (typeof SCHEMAS)[number]

/**
 * Returns the statements that create the table. All can be run again.
 *
 * `expires_at` is milliseconds since the Unix epoch in every database, so that all drivers calculate alike.
 */
export function tableSchema(database: SchemaName, table: string): readonly string[] {
  // Indexes belong to the schema of their table.
  const index = `${table.slice(table.indexOf('.') + 1)}_expires_at`
  if (database === 'mysql') {
    return [
      `CREATE TABLE IF NOT EXISTS ${table} (
  id         varchar(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  revision   bigint NOT NULL,
  body       longtext CHARACTER SET utf8mb4 NOT NULL,
  expires_at bigint,
  KEY ${index} (expires_at)
)`,
    ]
  }
  const [key, number] = database === 'postgres' ? ['text COLLATE "C"', 'bigint'] : ['text', 'integer']
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (
  id         ${key} PRIMARY KEY NOT NULL,
  revision   ${number} NOT NULL,
  body       text NOT NULL,
  expires_at ${number}
)${database === 'sqlite' ? ' WITHOUT ROWID' : ''}`,
    `CREATE INDEX IF NOT EXISTS ${index} ON ${table} (expires_at) WHERE expires_at IS NOT NULL`,
  ]
}

/**
 * Checks the name of a table, which is inserted into statements unescaped.
 *
 * @throws SessmgrError `invalid_option` for anything except letters, digits and underscores, with an optional schema
 * before a dot.
 */
export function requireTableName(table: unknown): void {
  if (typeof table === 'string' && /^(?:[a-z_]\w*\.)?[a-z_]\w*$/i.test(table) && table.length <= 100) return
  throw invalidOption('"table" must be the name of a table, of letters, digits and underscores: table: \'sessmgr\'')
}
