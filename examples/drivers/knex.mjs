// @ts-check
// Knex, with PostgreSQL, MySQL, MariaDB or SQLite. Table: npx sessmgr schema postgres, mysql or sqlite
//
// Each statement is its own transaction, at the database's default isolation level. Pass the Knex instance, never one
// of its transactions.
import { SQL_CLOCKS } from './sql-clocks.mjs'

/** Error codes of a write that lost to another one: a duplicate key in each database, or a deadlock in MySQL. */
const LOST = /^(23505|ER_DUP_ENTRY|ER_LOCK_DEADLOCK|SQLITE_CONSTRAINT_PRIMARYKEY)$/

/**
 * @param {import('knex').Knex} knex
 * @param {keyof typeof SQL_CLOCKS} database
 * @returns {import('sessmgr/document').DocumentDriver}
 */
export function knexDriver(knex, database, table = 'sessmgr') {
  const now = SQL_CLOCKS[database]
  const expired = knex.raw(`expires_at <= ${now}`)
  const until = (/** @type {number | undefined} */ lifeMs) =>
    lifeMs === undefined ? null : knex.raw(`${now} + ${Number(lifeMs)}`)
  // As bytes, because strings of MySQL's type count as equal if they differ only in spaces at the end.
  const exactly = (/** @type {string} */ before) =>
    database === 'mysql' ? knex.raw('CAST(? AS BINARY)', [before]) : before
  /** Checks whether a write took effect. UPDATE resolves to the number of rows, INSERT to something else. */
  const written = async (/** @type {PromiseLike<unknown>} */ write) => {
    try {
      return (await write) !== 0
    } catch (error) {
      if (LOST.test(Object(error).code)) return false
      throw error
    }
  }

  return {
    async get(keys) {
      const found = await knex
        .from(knex.raw(`(SELECT ${now} AS now) AS t`))
        .leftJoin(`${table} as s`, (on) =>
          on.onIn('s.id', [...keys, '']).andOn(knex.raw('(s.expires_at IS NULL OR s.expires_at > t.now)')),
        )
        .select('t.now', 's.id', 's.revision', 's.body')
      const known = found.filter(({ id }) => id !== null)
      return {
        now: Number(found[0]?.now),
        rows: new Map(known.map(({ id, revision, body }) => [id, { revision, text: body }])),
      }
    },
    async swap(key, before, { revision, text }, lifeMs) {
      const row = { revision, body: text, expires_at: until(lifeMs) }
      if (before !== undefined)
        return written(
          knex(table)
            .where({ id: key, revision: exactly(before) })
            .update(row),
        )
      const inserted = knex(table).insert({ ...row, id: key })
      const replaced = knex(table).where({ id: key }).where(expired).update(row)
      return (await written(inserted)) || written(replaced)
    },
    async purge(count) {
      // MySQL allows no LIMIT in an IN subquery. A row that is rewritten in between is no longer expired, so it stays.
      const ids = await knex(table).where(expired).limit(count).pluck('id')
      return knex(table).whereIn('id', ids).where(expired).delete()
    },
    wipe: async () => void (await knex(table).delete()),
  }
}
