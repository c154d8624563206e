import session, { type SessionData } from 'express-session'
import Database from 'libsql'

const DAY_MS = 24 * 60 * 60_000

type Done = (error?: unknown, session?: SessionData | null) => void

/** Stores sessions in a SQLite file, which the processes on one machine can share. */
export class SqliteSessions extends session.Store {
  readonly #database

  constructor(path: string) {
    super()
    this.#database = new Database(path, { timeout: 100 })
    this.#database.exec('PRAGMA journal_mode = WAL')
    this.#database.exec(
      'CREATE TABLE IF NOT EXISTS sessions (id text PRIMARY KEY, data text NOT NULL, expires_at integer NOT NULL)',
    )
    this.#database.prepare('DELETE FROM sessions WHERE expires_at <= ?').run(Date.now())
  }

  override get(id: string, done: Done): void {
    this.#run(done, () => {
      const select = this.#database.prepare('SELECT data FROM sessions WHERE id = ? AND expires_at > ?')
      const [row] = select.all(id, Date.now()) as { data: string }[]
      return row ? JSON.parse(row.data) : null
    })
  }

  override set(id: string, data: SessionData, done: Done = () => {}): void {
    const until = Date.now() + (data.cookie.originalMaxAge ?? DAY_MS)
    const sql = 'INSERT OR REPLACE INTO sessions (id, data, expires_at) VALUES (?, ?, ?)'
    this.#run(done, () => this.#write(sql, id, JSON.stringify(data), until))
  }

  override touch(id: string, data: SessionData, done: Done = () => {}): void {
    const until = Date.now() + (data.cookie.originalMaxAge ?? DAY_MS)
    const sql = 'UPDATE sessions SET expires_at = ? WHERE id = ?'
    this.#run(done, () => this.#write(sql, until, id))
  }

  override destroy(id: string, done: Done = () => {}): void {
    this.#run(done, () => this.#write('DELETE FROM sessions WHERE id = ?', id))
  }

  close(): void {
    this.#database.close()
  }

  /**
   * Runs a statement in a transaction. Without BEGIN, libsql would keep the lock of a statement that found the file
   * locked.
   */
  #write(sql: string, ...values: unknown[]): undefined {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      this.#database.prepare(sql).run(...values)
    } finally {
      this.#database.exec('COMMIT')
    }
  }

  #run(done: Done, task: () => SessionData | null | undefined): void {
    let found: SessionData | null | undefined
    try {
      found = task()
    } catch (error) {
      return done(error)
    }
    done(null, found)
  }
}
