// @ts-check
// Kysely, with PostgreSQL or SQLite. Table: npx sessmgr schema postgres or sqlite
//
// Each statement is its own transaction, at the database's default isolation level. Pass the Kysely instance, never one
// of its transactions.
import { sql } from 'kysely'
import { SQL_CLOCKS } from './sql-clocks.mjs'

/** @typedef {{ now: number | string, id: string | null, revision: string, body: string }} Found */

/**
 * @param {import('kysely').Kysely<any>} db
 * @param {'postgres' | 'sqlite'} database
 * @returns {import('sessmgr/document').DocumentDriver}
 */
export function kyselyDriver(db, database, table = 'sessmgr') {
  const now = sql.raw(SQL_CLOCKS[database])
  const name = sql.table(table)
  const until = (/** @type {number | undefined} */ lifeMs) =>
    lifeMs === undefined ? sql`NULL` : sql`${now} + ${sql.lit(lifeMs)}`

  return {
    async get(keys) {
      const { rows: found } = await /** @type {import('kysely').RawBuilder<Found>} */ (
        sql`SELECT t.now, s.id, s.revision, s.body FROM (SELECT ${now} AS now) t LEFT JOIN ${name} s
          ON s.id IN (${sql.join([...keys, ''])}) AND (s.expires_at IS NULL OR s.expires_at > t.now)`
      ).execute(db)
      return {
        now: Number(found[0]?.now),
        rows: new Map(found.flatMap(({ id, revision, body }) => (id === null ? [] : [[id, { revision, text: body }]]))),
      }
    },
    async swap(key, before, { revision, text }, lifeMs) {
      const write =
        before === undefined
          ? sql`INSERT INTO ${name} AS s (id, revision, body, expires_at) VALUES (${key}, ${revision}, ${text}, ${until(lifeMs)})
              ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, body = excluded.body, expires_at = excluded.expires_at
              WHERE s.expires_at <= ${now} RETURNING 1`
          : sql`UPDATE ${name} SET revision = ${revision}, body = ${text}, expires_at = ${until(lifeMs)}
              WHERE id = ${key} AND revision = ${before} RETURNING 1`
      return (await write.execute(db)).rows.length === 1
    },
    async purge(count) {
      // A row that is rewritten in the meantime is no longer expired, so it stays.
      const some = sql`SELECT id FROM ${name} WHERE expires_at <= ${now} LIMIT ${count}`
      const purged = await sql`DELETE FROM ${name} WHERE expires_at <= ${now} AND id IN (${some}) RETURNING 1`.execute(
        db,
      )
      return purged.rows.length
    },
    wipe: async () => void (await sql`DELETE FROM ${name}`.execute(db)),
  }
}
