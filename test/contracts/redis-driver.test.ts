import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { connectRedis, type NodeRedis } from '../support/redis-client.ts'
import { redisDriver, registerRedisDriverContract } from '../support/redis-drivers.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

let server: RedisServer
let clients: readonly [NodeRedis, NodeRedis]
let prefixes = 0

beforeAll(async () => {
  server = await startRedis()
  clients = [await connectRedis(server.url), await connectRedis(server.url)]
})
afterAll(async () => {
  for (const client of clients) client.destroy()
  await server.stop()
})

// Other kinds of clients, and lost connections and writes, are in redis-driver.check.ts.
describe('the driver contract on node-redis', () => {
  registerRedisDriverContract({
    describe,
    it,
    async create() {
      const prefix = `test${++prefixes}:`
      return {
        driver: redisDriver(clients[0], prefix),
        another: async () => redisDriver(clients[1], prefix),
        pass: (ms) => sleep(ms),
        close: async () => {},
      }
    },
  })
})
