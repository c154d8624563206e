import { createClient } from 'redis'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { redisStore } from '../../src/redis.ts'
import { RedisClock } from '../support/redis-clock.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { registerStoreContract } from './store/store-contract.ts'

let server: RedisServer
let prefixes = 0

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

async function connect() {
  const client = createClient({ url: server.url })
  await client.connect()
  return client
}

// ioredis, RESP 2, pools and sentinels are shown in behaviour/stores/redis-kinds.check.ts.
describe('the store contract on node-redis', () => {
  registerStoreContract({
    describe,
    it,
    async create() {
      const prefix = `test${++prefixes}:`
      const [one, two] = await Promise.all([connect(), connect()])
      const clock = new RedisClock()
      return {
        store: redisStore({ client: clock.on(one), prefix }),
        another: async () => redisStore({ client: clock.on(two), prefix }),
        pass: (ms) => clock.pass(ms),
        rewind: async (ms) => clock.rewind(ms),
        close: async () => {
          one.destroy()
          two.destroy()
        },
      }
    },
  })
})
