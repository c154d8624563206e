// @ts-check
// DynamoDB, with the packages @aws-sdk/client-dynamodb and @aws-sdk/lib-dynamodb. Table: a string partition key `id`
// and no sort key. Never use a global table, because its regions accept conflicting writes.
//
// Changes to a single item are atomic, and reads are consistent. DynamoDB does not return its time, so keep the clocks
// of your machines in sync.
//
// An item may have at most 400 KB, which is about 1,500 sessions of a user. So this driver cannot store the longest
// strings that the driver contract requires.

/** Maximum number of keys in one request. */
const MOST = 100

/**
 * @param {any} client A `DynamoDBDocument`.
 * @returns {import('sessmgr/document').DocumentDriver}
 */
export function dynamodbDriver(client, table = 'sessmgr') {
  /** @type {any} Where the next purge() starts. */
  let start
  /** Resolves to true once a write is made, or to false if its condition refuses it. */
  const unlessRefused = (/** @type {Promise<unknown>} */ write) =>
    write.then(
      () => true,
      (error) => {
        if (error.name === 'ConditionalCheckFailedException') return false
        throw error
      },
    )
  const read = async (/** @type {readonly string[]} */ ids) => {
    const items = []
    let asked = { [table]: { Keys: ids.map((id) => ({ id })), ConsistentRead: true } }
    while (asked[table]) {
      const { Responses, UnprocessedKeys } = await client.batchGet({ RequestItems: asked })
      items.push(...(Responses?.[table] ?? []))
      asked = UnprocessedKeys ?? {}
    }
    return items
  }

  return {
    async get(keys) {
      const parts = Array.from({ length: Math.ceil(keys.length / MOST) }, (_, n) =>
        keys.slice(n * MOST, (n + 1) * MOST),
      )
      const items = (await Promise.all(parts.map(read))).flat()
      const now = Date.now()
      const live = items.filter(({ expires_at }) => expires_at === undefined || expires_at > now)
      return { now, rows: new Map(live.map(({ id, revision, body }) => [id, { revision, text: body }])) }
    },
    swap(key, before, { revision, text }, lifeMs) {
      const now = Date.now()
      const write = {
        TableName: table,
        Key: { id: key },
        UpdateExpression:
          'SET body = :body, revision = :revision' +
          (lifeMs === undefined ? ' REMOVE expires_at' : ', expires_at = :until'),
        ConditionExpression:
          before === undefined ? 'attribute_not_exists(id) OR expires_at <= :now' : 'revision = :before',
        ExpressionAttributeValues: {
          ':body': text,
          ':revision': revision,
          ...(lifeMs !== undefined && { ':until': now + lifeMs }),
          ...(before === undefined ? { ':now': now } : { ':before': before }),
        },
      }
      return unlessRefused(client.update(write))
    },
    // Reads one page of the table per call. Goes on to the next page once all expired items of this one are deleted.
    async purge(count) {
      const expired = { ExpressionAttributeValues: { ':now': Date.now() }, TableName: table }
      const page = { ...expired, FilterExpression: 'expires_at <= :now', ProjectionExpression: 'id' }
      const { Items = [], LastEvaluatedKey } = await client.scan({ ...page, ExclusiveStartKey: start })
      if (Items.length <= count) start = LastEvaluatedKey
      const keys = Items.slice(0, count).map((/** @type {{ id: string }} */ { id }) => ({ id }))
      const remove = (/** @type {object} */ Key) =>
        unlessRefused(client.delete({ ...expired, Key, ConditionExpression: 'expires_at <= :now' }))
      return (await Promise.all(keys.map(remove))).filter(Boolean).length
    },
    async wipe() {
      /** @type {any} */
      let from
      do {
        /** @type {any} */
        const page = await client.scan({ TableName: table, ProjectionExpression: 'id', ExclusiveStartKey: from })
        for (const { id } of page.Items ?? []) await client.delete({ TableName: table, Key: { id } })
        from = page.LastEvaluatedKey
      } while (from)
    },
  }
}
