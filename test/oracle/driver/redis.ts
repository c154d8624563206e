import { redisStore } from '../../../src/redis.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { startRedis } from '../../support/redis-server.ts'
import type { OpenStore } from './world.ts'

export { createPlayer } from './driver.ts'

/** A Redis server for histories, each of which has its own keys. */
export interface RedisPlace {
  readonly open: OpenStore
  stop(): Promise<void>
}

/** Starts a server. */
export async function startPlace(): Promise<RedisPlace> {
  const server = await startRedis()
  const client = await connectRedis(server.url)
  let opened = 0
  return {
    open: () => redisStore({ client, prefix: `history ${opened++}:`, tracking: false }),
    async stop() {
      client.destroy()
      await server.stop()
    },
  }
}
