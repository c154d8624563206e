// @ts-check
// Drizzle, with PostgreSQL. Table: npx sessmgr schema postgres. Its Drizzle definition is below.
//
// Each statement is its own transaction, at READ COMMITTED, the default. Pass the database, never one of its
// transactions.
import { and, eq, inArray, isNull, lte, or, sql } from 'drizzle-orm'
import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { SQL_CLOCKS } from './sql-clocks.mjs'

const number = () => bigint({ mode: 'number' })

export const sessmgr = pgTable('sessmgr', {
  id: text().primaryKey(),
  revision: text().notNull(),
  body: text().notNull(),
  expires_at: number(),
})

/**
 * @param {import('drizzle-orm/pg-core').PgDatabase<any>} db
 * @returns {import('sessmgr/document').DocumentDriver}
 */
export function drizzleDriver(db, table = sessmgr) {
  const now = /** @type {import('drizzle-orm').SQL<number>} */ (sql.raw(SQL_CLOCKS.postgres))
  const expired = lte(table.expires_at, now)
  const until = (/** @type {number | undefined} */ lifeMs) =>
    lifeMs === undefined ? null : sql`${now} + ${lifeMs}::bigint`

  return {
    async get(keys) {
      const clock = db
        .select({ now: now.mapWith(Number).as('now') })
        .from(sql`(SELECT) AS one`)
        .as('clock')
      const live = or(isNull(table.expires_at), sql`${table.expires_at} > ${clock.now}`)
      const found = await db
        .select({ now: clock.now, id: table.id, revision: table.revision, text: table.body })
        .from(clock)
        .leftJoin(table, and(inArray(table.id, [...keys]), live))
      return {
        now: Number(found[0]?.now),
        rows: new Map(
          found.flatMap(({ id, revision, text }) =>
            id === null ? [] : [[id, { revision: String(revision), text: String(text) }]],
          ),
        ),
      }
    },
    async swap(key, before, { revision, text: body }, lifeMs) {
      const row = { revision, body, expires_at: until(lifeMs) }
      const id = { id: table.id }
      if (before !== undefined) {
        const at = and(eq(table.id, key), eq(table.revision, before))
        return (await db.update(table).set(row).where(at).returning(id)).length === 1
      }
      const inserted = await db
        .insert(table)
        .values({ ...row, id: key })
        .onConflictDoUpdate({ target: table.id, set: row, setWhere: expired })
        .returning(id)
      return inserted.length === 1
    },
    async purge(count) {
      const some = db.select({ id: table.id }).from(table).where(expired).limit(count)
      // A row that is rewritten in the meantime is no longer expired, so it stays.
      return (
        await db
          .delete(table)
          .where(and(expired, inArray(table.id, some)))
          .returning({ id: table.id })
      ).length
    },
    wipe: async () => void (await db.delete(table)),
  }
}
