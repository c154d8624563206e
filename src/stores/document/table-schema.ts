import { invalidOption } from '../../ground/invalid-option.ts'

/** Databases that sessmgr has a table definition for. */
export const SCHEMAS = ['postgres', 'sqlite', 'mysql'] as const

/** A database that sessmgr has a table definition for. */
export type SchemaName = (typeof SCHEMAS)[number]

/** Column types for keys, which are compared byte by byte, and for numbers. */
export const COLUMN_TYPES = {
  postgres: { key: 'text COLLATE "C"', number: 'bigint' },
  sqlite: { key: 'text', number: 'integer' },
} as const

/**
 * Returns the statements that create the table. They can be run repeatedly.
 *
 * In every database, `expires_at` is in milliseconds since the Unix epoch, so that all drivers calculate alike.
 */
export function tableSchema(database: SchemaName, table: string): readonly string[] {
  const name = quoteName(database, table)
  const index = quoteIndex(database, table, 'expires_at')
  if (database === 'mysql') {
    return [
      `CREATE TABLE IF NOT EXISTS ${name} (
  id         varchar(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  revision   varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  body       longtext CHARACTER SET utf8mb4 NOT NULL,
  expires_at bigint,
  KEY ${index} (expires_at)
)`,
    ]
  }
  const { key, number } = COLUMN_TYPES[database]
  // PostgreSQL leaves part of each page free for new versions of its rows, so that most updates change no index.
  const storage = database === 'sqlite' ? ' WITHOUT ROWID' : ' WITH (fillfactor = 80)'
  return [
    `CREATE TABLE IF NOT EXISTS ${name} (
  id         ${key} PRIMARY KEY NOT NULL,
  revision   text NOT NULL,
  body       text NOT NULL,
  expires_at ${number}
)${storage}`,
    `CREATE INDEX IF NOT EXISTS ${index} ON ${name} (expires_at) WHERE expires_at IS NOT NULL`,
  ]
}

/**
 * Quotes a table name, which may be an SQL keyword. With and without quotes, the name means the same table. Leaves
 * names for MySQL as they are.
 */
export function quoteName(database: SchemaName, name: string): string {
  if (database === 'mysql') return name
  // PostgreSQL converts unquoted names to lower case.
  const parts = (database === 'postgres' ? name.toLowerCase() : name).split('.')
  return parts.map((part) => `"${part}"`).join('.')
}

/** Returns the quoted name of an index, without a schema: an index belongs to the schema of its table. */
export function quoteIndex(database: SchemaName, table: string, columns: string): string {
  return quoteName(database, `${table.slice(table.indexOf('.') + 1)}_${columns}`)
}

/**
 * Checks a table name, which is inserted into statements unescaped.
 *
 * @throws SessmgrError `invalid_option` unless the name has 1 to 50 letters, digits and underscores, and does not start
 * with a digit. A schema before a dot is optional. PostgreSQL truncates names after 63 characters, so a longer name
 * could clash with the name of its index.
 */
export function requireTableName(table: unknown): void {
  if (typeof table === 'string' && /^(?:[a-z_]\w{0,49}\.)?[a-z_]\w{0,49}$/i.test(table)) return
  throw invalidOption(
    '"table" must be a table name made of at most 50 letters, digits and underscores: table: \'sessmgr\'',
  )
}
