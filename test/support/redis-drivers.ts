import type { RedisClient } from '../../src/redis.ts'
import { RedisCalls } from '../../src/stores/redis/redis-calls.ts'
import { RedisDriver } from '../../src/stores/redis/redis-driver.ts'
import { ServerClock } from '../../src/stores/redis/server-clock.ts'
import { type DocumentDriverContractOptions, registerDocumentDriverContract } from '../../src/testing.ts'

/** Redis itself deletes expired rows, so a driver for it purges none. */
const NOT_FOR_REDIS = 'purges only expired rows, and no more than the given number'

const silent = { publish: async () => {}, subscribe: async () => async () => {} }

/** Creates a driver, as redisStore() does for itself. */
export function redisDriver(client: RedisClient, prefix = 'sessmgr:'): RedisDriver {
  const calls = new RedisCalls(client, 2000)
  return new RedisDriver({
    client,
    calls,
    prefix,
    clock: new ServerClock(),
    signals: silent,
    replicaMs: undefined,
    onFirstUse: () => {},
  })
}

/** Registers the public contract of drivers for a driver of Redis. */
export function registerRedisDriverContract({ it, ...options }: DocumentDriverContractOptions): void {
  registerDocumentDriverContract({
    ...options,
    it: (name, body) => (name === NOT_FOR_REDIS ? undefined : it(name, body)),
  })
}
