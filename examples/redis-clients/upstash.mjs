// @ts-check
// Upstash over HTTP, where no connection can be kept: redisStore({ client: fromUpstash(redis), tracking: false })
// Create the client with automaticDeserialization: false, because values must stay strings, and with
// enableAutoPipelining: false, because a script that is missing on the server would fail all calls of a pipeline.

/**
 * @typedef {object} Upstash
 * @property {(sha1: string, keys: string[], args: string[]) => Promise<unknown>} evalsha
 * @property {(script: string, keys: string[], args: string[]) => Promise<unknown>} eval
 * @property {(key: string) => Promise<unknown>} get
 * @property {(key: string) => Promise<unknown>} del
 * @property {(cursor: string, options: { match: string, count: number }) => Promise<[string, string[]]>} scan
 */

/**
 * @param {Upstash} redis
 * @returns {import('sessmgr/redis').RedisClient}
 */
export function fromUpstash(redis) {
  return {
    evalSha: (sha1, { keys, arguments: args }) => redis.evalsha(sha1, keys, args),
    eval: (script, { keys, arguments: args }) => redis.eval(script, keys, args),
    get: (key) => redis.get(key),
    del: (key) => redis.del(key),
    async scan(position, { MATCH, COUNT }) {
      const [cursor, keys] = await redis.scan(position, { match: MATCH, count: COUNT })
      return { cursor, keys }
    },
  }
}
