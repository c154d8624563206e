import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { redisStore } from '../../../src/redis.ts'
import { registerStoreContract } from '../../contracts/store/store-contract.ts'
import { RedisClock } from '../../support/redis-clock.ts'
import { startRedisHost } from '../../support/redis-host.ts'
import { REDIS_KINDS, type RedisConnection } from '../../support/redis-kinds.ts'
import {
  connectThroughSentinel,
  type ReplicatedRedis,
  startReplicated,
  startSentinelOf,
} from '../../support/redis-replicated.ts'
import type { RedisServer } from '../../support/redis-server.ts'

let servers: ReplicatedRedis
let sentinel: RedisServer
let prefixes = 0

beforeAll(async () => {
  servers = await startReplicated()
  sentinel = await startSentinelOf(servers)
})
afterAll(async () => {
  await sentinel.stop()
  await servers.stop()
})

for (const [kind, connect] of Object.entries(REDIS_KINDS)) {
  describe(`the store contract on ${kind}, every end of a session confirmed by a replica`, () => {
    let connections: readonly [RedisConnection, RedisConnection]
    beforeAll(async () => {
      const running = { replicated: servers, sentinel }
      connections = await Promise.all([connect(running), connect(running)])
    })
    afterAll(async () => {
      for (const { close } of connections) await close()
    })

    registerStoreContract({
      describe,
      it,
      async create() {
        const options = { prefix: `${kind} ${++prefixes}:`, durability: 'replica', deadlineMs: 60_000 } as const
        const [one, two] = connections
        const clock = new RedisClock()
        return {
          store: redisStore({ ...options, client: clock.on(one.client) }),
          another: async () => redisStore({ ...options, client: clock.on(two.client) }),
          pass: (ms) => clock.pass(ms),
          rewind: async (ms) => clock.rewind(ms),
          close: async () => {},
        }
      },
    })
  })
}

describe('an application behind a sentinel', () => {
  it('goes on with the promoted replica when the master dies, and knows every session and every end of one', async () => {
    const client = await connectThroughSentinel(sentinel)
    onTestFinished(() => client.destroy())
    const host = await startRedisHost({ client, durability: 'replica', deadlineMs: 2000 })
    onTestFinished(() => host.close())
    const [alice, bob] = [await host.signedIn('alice'), await host.signedIn('bob')]
    await host.limiter.sessions.endAll(3)
    await servers.master.kill()
    await vi.waitFor(async () => expect(await alice.me()).toBe(200), { timeout: 60_000, interval: 100 })
    expect(await bob.me()).toBe(401)
    expect((await host.browser().login('bob')).status).toBe(200)
    expect(await host.limiter.sessions.count(2)).toBe(1)
  })
})
