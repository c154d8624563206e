import type { Clock } from '../../ground/clock.ts'
import type { DocumentDriver, DocumentRow } from '../document/document-driver.ts'
import { quoteName, tableSchema } from '../document/table-schema.ts'
import { SqliteConnection, type SqliteConnectionOptions, type SqliteDatabase } from './sqlite-connection.ts'

const NOW = "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS now"

interface SqliteDriverOptions extends SqliteConnectionOptions {
  readonly id: string
  readonly local: boolean
  readonly table: string
  readonly clock: Clock | undefined
}

/** Stores rows in a SQLite table, with one statement per call. */
export class SqliteDriver implements DocumentDriver {
  readonly id: string
  readonly local: boolean
  readonly #table: string
  readonly #schema: readonly string[]
  readonly #connection: SqliteConnection
  readonly #clock: Clock

  /** @param clock Replaces SQLite's clock, which is the machine's. */
  constructor(open: () => SqliteDatabase, { id, local, table, clock, ...rest }: SqliteDriverOptions) {
    this.id = id
    this.local = local
    this.#table = quoteName('sqlite', table)
    this.#schema = tableSchema('sqlite', table)
    this.#connection = new SqliteConnection(open, rest)
    const now = () => (this.#connection.statement(NOW).all()[0] as { readonly now: number }).now
    this.#clock = clock ?? { now }
  }

  /** Prepares the database for several processes, and creates the table unless it exists. */
  open(): Promise<void> {
    return this.#connection.prepare(this.#schema)
  }

  get(keys: readonly string[]) {
    return this.#connection.patiently(() => {
      const select = this.#connection.statement(
        `SELECT revision, body FROM ${this.#table} WHERE id = ? AND (expires_at IS NULL OR expires_at > ?)`,
      )
      const now = this.#clock.now()
      const rows = new Map<string, DocumentRow>()
      for (const key of keys) {
        const row = select.all(key, now)[0] as { readonly revision: number; readonly body: string } | undefined
        if (row) rows.set(key, { revision: row.revision, text: row.body })
      }
      return { now, rows }
    })
  }

  swap(key: string, revision: number | undefined, text: string, lifeMs: number | undefined): Promise<boolean> {
    return this.#connection.inTurn(() => {
      const now = this.#clock.now()
      const until = lifeMs === undefined ? null : now + lifeMs
      const changes =
        revision === undefined ? this.#insert(key, text, now, until) : this.#update(key, revision, text, until)
      return changes === 1
    })
  }

  #update(key: string, revision: number, text: string, until: number | null) {
    const sql = `UPDATE ${this.#table} SET revision = revision + 1, body = ?, expires_at = ? WHERE id = ? AND revision = ?`
    return this.#connection.write(sql, text, until, key, revision)
  }

  #insert(key: string, text: string, now: number, until: number | null) {
    const sql = `INSERT INTO ${this.#table} AS s (id, revision, body, expires_at) VALUES (?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET revision = max(s.revision + 1, excluded.revision), body = excluded.body,
      expires_at = excluded.expires_at WHERE s.expires_at <= excluded.revision`
    return this.#connection.write(sql, key, now, text, until)
  }

  purge(count: number): Promise<number> {
    const sql = `DELETE FROM ${this.#table} WHERE id IN (SELECT id FROM ${this.#table} WHERE expires_at <= ? LIMIT ?)`
    return this.#connection.inTurn(() => this.#connection.write(sql, this.#clock.now(), count))
  }

  async wipe(): Promise<void> {
    await this.#connection.inTurn(() => this.#connection.write(`DELETE FROM ${this.#table}`))
  }

  async close(): Promise<void> {
    this.#connection.close()
  }
}
