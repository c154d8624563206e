import { quoteName } from '../../../stores/document/table-schema.ts'
import { SqliteConnection, type SqliteDatabase } from '../../../stores/sqlite/sqlite-connection.ts'
import { sqliteOpener } from '../../../stores/sqlite/sqlite-opener.ts'
import { type AuditDatabase, auditSchema } from './audit-database.ts'

/** Opens the table of the events in SQLite, on first use. */
export function sqliteAudit(source: string | SqliteDatabase, name: string): AuditDatabase {
  const openDatabase = typeof source === 'string' ? sqliteOpener(source, 'sqlSink') : () => source
  let opening: Promise<SqliteConnection> | undefined

  async function open(): Promise<SqliteConnection> {
    const connection = new SqliteConnection(openDatabase, { owned: typeof source === 'string' })
    await connection.prepare(auditSchema('sqlite', name))
    return connection
  }

  /** Tries again after a failure. */
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
