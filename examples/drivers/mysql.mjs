// @ts-check
// MySQL 8 and MariaDB, with the mysql2 package. Table: npx sessmgr schema mysql
//
// Each statement is its own transaction, at any isolation level. Pass a pool from `mysql2/promise` that connects to the
// primary, not a single connection, which could be in a transaction that is rolled back.
import { SQL_CLOCKS } from './sql-clocks.mjs'

const now = SQL_CLOCKS.mysql

/** Error numbers of a write that lost to another one: a duplicate key, a deadlock, a changed snapshot. */
const LOST = [1062, 1213, 1020]

/**
 * @param {import('mysql2/promise').Pool} pool
 * @returns {import('sessmgr/document').DocumentDriver}
 */
export function mysqlDriver(pool, table = 'sessmgr') {
  /** Returns the number of changed rows. */
  const run = async (/** @type {string} */ sql, /** @type {(string | number | null)[]} */ values = []) => {
    const [result] = await pool.execute(sql, values)
    return /** @type {import('mysql2').ResultSetHeader} */ (result).affectedRows
  }
  const write = async (/** @type {string} */ sql, /** @type {(string | number | null)[]} */ values) => {
    try {
      return (await run(sql, values)) === 1
    } catch (error) {
      if (LOST.includes(Object(error).errno)) return false
      throw error
    }
  }
  // As bytes, because strings of this type count as equal if they differ only in spaces at the end.
  const update = `UPDATE ${table} SET revision = ?, body = ?, expires_at = ${now} + ?
    WHERE id = ? AND revision = CAST(? AS BINARY)`
  const insert = `INSERT INTO ${table} (id, revision, body, expires_at) VALUES (?, ?, ?, ${now} + ?)`
  const replace = `UPDATE ${table} SET revision = ?, body = ?, expires_at = ${now} + ?
    WHERE id = ? AND expires_at <= ${now}`

  return {
    async get(keys) {
      // Padded to a power of two, because the server caches each different prepared statement.
      const ids = [...keys, ...Array(2 ** Math.ceil(Math.log2(keys.length + 1)) - keys.length).fill('')]
      const [found] = await pool.execute(
        `SELECT t.now, s.id, s.revision, s.body FROM (SELECT ${now} AS now) t LEFT JOIN ${table} s
          ON s.id IN (${ids.map(() => '?')}) AND (s.expires_at IS NULL OR s.expires_at > t.now)`,
        ids,
      )
      const rows = /** @type {import('mysql2').RowDataPacket[]} */ (found)
      const known = rows.filter(({ id }) => id !== null)
      return {
        now: Number(rows[0]?.now),
        rows: new Map(known.map(({ id, revision, body }) => [id, { revision, text: body }])),
      }
    },
    async swap(key, before, { revision, text }, lifeMs) {
      const row = [revision, text, lifeMs ?? null]
      if (before !== undefined) return write(update, [...row, key, before])
      return (await write(insert, [key, ...row])) || write(replace, [...row, key])
    },
    purge: (count) => run(`DELETE FROM ${table} WHERE expires_at <= ${now} LIMIT ?`, [String(count)]),
    wipe: async () => void (await run(`DELETE FROM ${table}`)),
  }
}
