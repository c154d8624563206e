// A Durable Object that keeps the records of sessmgr, and the sessions of the application, in its SQLite database.
import { DurableObject } from 'cloudflare:workers'

const LIVE = '(expires_at IS NULL OR expires_at > ?)'

/** The rows of `documentStore()`, and the sessions of this application. */
export class Rows extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env)
    this.sql = ctx.storage.sql
    for (const table of ['sessmgr', 'sessions']) {
      this.sql.exec(
        `CREATE TABLE IF NOT EXISTS ${table} (id TEXT PRIMARY KEY, revision TEXT, body TEXT, expires_at INTEGER)`,
      )
    }
  }

  get(keys) {
    const now = Date.now()
    const find = (key) => this.sql.exec(`SELECT revision, body FROM sessmgr WHERE id = ? AND ${LIVE}`, key, now)
    const found = keys.flatMap((key) => [...find(key)].map(({ revision, body }) => [key, { revision, text: body }]))
    return { now, rows: new Map(found) }
  }

  // A Durable Object runs one call after the other, so nothing comes between the two statements.
  swap(key, before, { revision, text }, lifeMs) {
    const now = Date.now()
    const [row] = this.sql.exec(`SELECT revision FROM sessmgr WHERE id = ? AND ${LIVE}`, key, now)
    if (row?.revision !== before) return false
    this.#put('sessmgr', key, revision, text, lifeMs)
    return true
  }

  purge(count) {
    const expired = 'SELECT id FROM sessmgr WHERE expires_at <= ? LIMIT ?'
    return this.sql.exec(`DELETE FROM sessmgr WHERE id IN (${expired}) RETURNING id`, Date.now(), count).toArray()
      .length
  }

  wipe() {
    this.sql.exec('DELETE FROM sessmgr')
  }

  readSession(id) {
    const [session] = this.sql.exec(`SELECT body FROM sessions WHERE id = ? AND ${LIVE}`, id, Date.now())
    return session && JSON.parse(session.body)
  }

  writeSession(id, session, lifeMs) {
    this.#put('sessions', id, '', JSON.stringify(session), lifeMs)
  }

  deleteSession(id) {
    this.sql.exec('DELETE FROM sessions WHERE id = ?', id)
  }

  #put(table, id, revision, body, lifeMs) {
    const until = lifeMs === undefined ? null : Date.now() + Math.ceil(lifeMs)
    this.sql.exec(`INSERT OR REPLACE INTO ${table} VALUES (?, ?, ?, ?)`, id, revision, body, until)
  }
}

/** Returns the driver for `documentStore()`. Inside the object itself, pass `this`. */
export function rowsDriver(rows) {
  return {
    id: 'durable-object',
    get: async (keys) => rows.get(keys),
    swap: async (...write) => rows.swap(...write),
    purge: async (count) => rows.purge(count),
    wipe: async () => rows.wipe(),
  }
}
