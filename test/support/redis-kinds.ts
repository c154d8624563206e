import Redis from 'ioredis'
import Valkey from 'iovalkey'
import { createClientPool } from 'redis'
import { createClient as createClient4 } from 'redis4'
import { fromIoredis, type RedisClient } from '../../src/redis.ts'
import { connectRedis } from './redis-client.ts'
import { connectThroughSentinel, type ReplicatedRedis } from './redis-replicated.ts'
import type { RedisServer } from './redis-server.ts'

/** A connected client of some kind. */
export interface RedisConnection {
  readonly client: RedisClient
  close(): unknown
}

/** Connects to servers. They are started only when a test runs. */
type ConnectKind = (servers: { replicated: ReplicatedRedis; sentinel: RedisServer }) => Promise<RedisConnection>

/** Every kind of client that can wait for a replica, except a plain client of node-redis. */
export const REDIS_KINDS: Readonly<Record<string, ConnectKind>> = {
  async ioredis({ replicated }) {
    const redis = new Redis(replicated.master.url)
    return { client: fromIoredis(redis), close: () => redis.disconnect() }
  },
  async iovalkey({ replicated }) {
    const valkey = new Valkey(replicated.master.url)
    return { client: fromIoredis(valkey), close: () => valkey.disconnect() }
  },
  async 'a pool of node-redis'({ replicated }) {
    const client = createClientPool({ url: replicated.master.url }, { minimum: 2, maximum: 4 })
    client.on('error', () => {})
    await client.connect()
    return { client, close: () => client.destroy() }
  },
  async 'a sentinel of node-redis'({ sentinel }) {
    const client = await connectThroughSentinel(sentinel)
    return { client, close: () => client.destroy() }
  },
  // Not a supported version, but an application that still has it must not fail halfway.
  async 'node-redis 4'({ replicated }) {
    const client = createClient4({ url: replicated.master.url })
    client.on('error', () => {})
    await client.connect()
    return { client: client as unknown as RedisClient, close: () => client.disconnect() }
  },
}

/** A plain client of node-redis, by the version of its protocol. */
export const PLAIN_KINDS: Readonly<Record<string, ConnectKind>> = Object.fromEntries(
  ([2, 3] as const).map((RESP) => [
    `node-redis with RESP ${RESP}`,
    async ({ replicated }) => {
      const client = await connectRedis(replicated.master.url, { RESP: RESP as never })
      return { client, close: () => client.destroy() }
    },
  ]),
)
