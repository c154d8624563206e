import Redis from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { fromIoredis, type RedisClient, redisStore } from '../../src/redis.ts'
import { registerStoreContract } from '../../src/testing.ts'
import { RedisClock } from '../support/redis-clock.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

let server: RedisServer
let prefixes = 0

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

// That of RESP 2 is shown with node-redis 4, in behaviour/stores/redis-kinds.check.ts.
const clients: Record<string, () => Promise<{ client: RedisClient; close(): unknown }>> = {
  'node-redis': async () => {
    const client = createClient({ url: server.url })
    await client.connect()
    return { client, close: () => client.destroy() }
  },
  ioredis: async () => {
    const redis = new Redis(server.port, '127.0.0.1')
    return { client: fromIoredis(redis), close: () => redis.disconnect() }
  },
}

for (const [name, connect] of Object.entries(clients)) {
  describe(`the store contract on ${name}`, () => {
    registerStoreContract({
      describe,
      it,
      async create() {
        const prefix = `test${++prefixes}:`
        const [one, two] = await Promise.all([connect(), connect()])
        const clock = new RedisClock()
        return {
          store: redisStore({ client: clock.on(one.client), prefix }),
          another: async () => redisStore({ client: clock.on(two.client), prefix }),
          pass: (ms) => clock.pass(ms),
          rewind: async (ms) => clock.rewind(ms),
          close: async () => {
            one.close()
            two.close()
          },
        }
      },
    })
  })
}
