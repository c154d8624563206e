// @ts-check
// Prisma, with PostgreSQL. Table: npx sessmgr schema postgres, in a migration of its own
//
// Uses raw statements, because `updateMany` can neither calculate with the database's clock nor replace an expired row.
// Each statement is its own transaction, at READ COMMITTED, the default. Pass the client, not one from `$transaction`.

/** @typedef {{ now: bigint, id: string | null, revision: string, body: string }} Found */

/**
 * @param {{
 *   $queryRaw(sql: TemplateStringsArray, ...values: any[]): PromiseLike<any>,
 *   $executeRaw(sql: TemplateStringsArray, ...values: any[]): PromiseLike<number>,
 * }} prisma
 * @returns {import('sessmgr/document').DocumentDriver}
 */
export function prismaDriver(prisma) {
  return {
    async get(keys) {
      /** @type {Found[]} */
      const found = await prisma.$queryRaw`
        SELECT t.now, s.id, s.revision, s.body
        FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now) t LEFT JOIN sessmgr s
        ON s.id = ANY(${[...keys]}::text[]) AND (s.expires_at IS NULL OR s.expires_at > t.now)`
      return {
        now: Number(found[0]?.now),
        rows: new Map(found.flatMap(({ id, revision, body }) => (id === null ? [] : [[id, { revision, text: body }]]))),
      }
    },
    async swap(key, before, { revision, text }, lifeMs) {
      const life = lifeMs ?? null
      const written =
        before === undefined
          ? prisma.$executeRaw`
              INSERT INTO sessmgr AS s (id, revision, body, expires_at)
              SELECT ${key}::text, ${revision}::text, ${text}::text, now + ${life}::bigint
              FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now) t
              ON CONFLICT (id) DO UPDATE SET revision = excluded.revision,
              body = excluded.body, expires_at = excluded.expires_at
              WHERE s.expires_at <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint`
          : prisma.$executeRaw`
              UPDATE sessmgr SET revision = ${revision}::text, body = ${text}::text,
              expires_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${life}::bigint
              WHERE id = ${key}::text AND revision = ${before}::text`
      return (await written) === 1
    },
    // A row that is rewritten in the meantime is no longer expired, so it stays.
    purge: async (count) =>
      await prisma.$executeRaw`
      DELETE FROM sessmgr WHERE expires_at <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint AND id IN
      (SELECT id FROM sessmgr WHERE expires_at <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint
      LIMIT ${count}::bigint)`,
    wipe: async () => void (await prisma.$executeRaw`DELETE FROM sessmgr`),
  }
}
