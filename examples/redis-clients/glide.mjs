// @ts-check
// Valkey GLIDE 2, a single server or a cluster: redisStore({ client: fromGlide(glide), tracking: false })

/**
 * @typedef {object} Glide A GlideClient or a GlideClusterClient.
 * @property {(command: string[]) => Promise<unknown>} customCommand
 * @property {(key: string) => Promise<unknown>} get
 * @property {(keys: string[]) => Promise<unknown>} del
 */

/**
 * @param {Glide} glide
 * @returns {import('sessmgr/redis').RedisClient}
 */
export function fromGlide(glide) {
  return {
    evalSha: (sha1, { keys, arguments: args }) =>
      glide.customCommand(['EVALSHA', sha1, String(keys.length), ...keys, ...args]),
    eval: (script, { keys, arguments: args }) =>
      glide.customCommand(['EVAL', script, String(keys.length), ...keys, ...args]),
    get: (key) => glide.get(key),
    del: (key) => glide.del([key]),
  }
}
