// @ts-check
// MongoDB 5.1 or newer, as a replica set, with the mongodb package. No schema: one document per row, found by `_id`.
// For purge(), create an index on `expiresAt`.
//
// Changes to a single document are atomic. With write concern majority, they survive a failover. Reads go to the
// primary with the default read concern, because a swap that lost a race must see the winner at once. Never use the
// driver in a transaction.

/**
 * @param {any} db A `Db` from the mongodb package.
 * @returns {import('sessmgr/document').DocumentDriver}
 */
export function mongodbDriver(db, name = 'sessmgr') {
  const readPreference = 'primary'
  const collection = db.collection(name, { readPreference, writeConcern: { w: 'majority' } })
  const now = { $toLong: '$$NOW' }
  // Without the type check, null would compare as less than any number.
  const expired = { expiresAt: { $type: 'number' }, $expr: { $lte: ['$expiresAt', now] } }
  const live = { $or: [{ expiresAt: null }, { $expr: { $gt: ['$expiresAt', now] } }] }

  return {
    async get(keys) {
      const pipeline = [{ $match: { _id: { $in: keys }, ...live } }]
      const [found] = await db
        .aggregate([{ $documents: [{ now }] }, { $lookup: { from: name, pipeline, as: 'rows' } }], { readPreference })
        .toArray()
      const rows = new Map()
      for (const { _id, revision, body } of found.rows) rows.set(_id, { revision, text: body })
      return { now: Number(found.now), rows }
    },
    async swap(key, before, { revision, text }, lifeMs) {
      // A literal, because a string that starts with "$" would be a field path.
      const body = { $literal: text }
      const expiresAt = lifeMs === undefined ? null : { $add: [now, lifeMs] }
      const set = [{ $set: { revision, body, expiresAt } }]
      if (before !== undefined) {
        return (await collection.updateOne({ _id: key, revision: before }, set)).matchedCount === 1
      }
      const replaced = await collection.updateOne({ _id: key, ...expired }, set)
      if (replaced.matchedCount === 1) return true
      try {
        // The filter never matches, so this inserts the row with the database's clock, or fails if the row exists.
        const made = await collection.updateOne({ _id: key, revision: { $exists: false } }, set, { upsert: true })
        return made.upsertedCount === 1
      } catch (error) {
        if (Object(error).code === 11000) return false
        throw error
      }
    },
    async purge(count) {
      const found = await collection
        .find(expired, { projection: { _id: 1 } })
        .limit(count)
        .toArray()
      const ids = found.map((/** @type {{ _id: string }} */ { _id }) => _id)
      // A row that was rewritten in the meantime is no longer expired, so it stays.
      return (await collection.deleteMany({ _id: { $in: ids }, ...expired })).deletedCount
    },
    wipe: async () => void (await collection.deleteMany({})),
  }
}
