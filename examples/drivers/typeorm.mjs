// @ts-check
// TypeORM, with PostgreSQL. Table: npx sessmgr schema postgres
//
// Each statement is its own transaction, at READ COMMITTED, the default. Pass the data source, never the manager or
// query runner of a transaction.
import { SQL_CLOCKS } from './sql-clocks.mjs'

const now = SQL_CLOCKS.postgres

/**
 * @param {{ query(sql: string, values?: unknown[]): Promise<any> }} dataSource
 * @returns {import('sessmgr/document').DocumentDriver}
 */
export function typeormDriver(dataSource, table = 'sessmgr') {
  const get = `SELECT t.now, s.id, s.revision, s.body FROM (SELECT ${now} AS now) t LEFT JOIN ${table} s
    ON s.id = ANY($1::text[]) AND (s.expires_at IS NULL OR s.expires_at > t.now)`
  const insert = `INSERT INTO ${table} AS s (id, revision, body, expires_at) VALUES ($1, $2, $3, ${now} + $4::bigint)
    ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, body = excluded.body,
    expires_at = excluded.expires_at WHERE s.expires_at <= ${now} RETURNING 1`
  const update = `UPDATE ${table} SET revision = $2, body = $3, expires_at = ${now} + $4::bigint
    WHERE id = $1 AND revision = $5`
  // A row that is rewritten in the meantime is no longer expired, so it stays.
  const purge = `DELETE FROM ${table} WHERE expires_at <= ${now} AND id IN
    (SELECT id FROM ${table} WHERE expires_at <= ${now} LIMIT $1)`

  return {
    async get(keys) {
      const found = await dataSource.query(get, [keys])
      const rows = new Map()
      for (const { id, revision, body } of found) {
        if (id !== null) rows.set(id, { revision, text: body })
      }
      return { now: Number(found[0].now), rows }
    },
    async swap(key, before, { revision, text }, lifeMs) {
      const values = [key, revision, text, lifeMs ?? null]
      if (before === undefined) return (await dataSource.query(insert, values)).length === 1
      // TypeORM resolves UPDATE and DELETE to the affected rows and their number.
      const [, count] = await dataSource.query(update, [...values, before])
      return count === 1
    },
    async purge(count) {
      const [, purged] = await dataSource.query(purge, [count])
      return purged
    },
    wipe: async () => void (await dataSource.query(`DELETE FROM ${table}`)),
  }
}
