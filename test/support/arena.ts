import { RedisStore } from 'connect-redis'
import { type Sessmgr, type SessmgrStore, sessmgr } from '../../src/index.ts'
import { redisStore } from '../../src/redis.ts'
import { type ExampleProcesses, startExamples } from './example-processes.ts'
import { HttpLoad } from './http-load.ts'
import { connectRedis, type NodeRedis } from './redis-client.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

/** How many requests to each process are in progress at a time. */
const IN_FLIGHT_EACH = 100

/** How large an arena is. */
export interface ArenaOptions {
  readonly processes: number
  /** Number of users user1, user2, … in addition to the example's named users. */
  readonly users: number
  readonly clockSkewMs?: readonly number[]
}

/** Processes of the example application on one Redis. This process watches, and uses the same store directly. */
export interface Arena {
  readonly redis: RedisServer
  readonly examples: ExampleProcesses
  readonly origins: readonly string[]
  readonly load: HttpLoad
  readonly client: NodeRedis
  readonly store: SessmgrStore
  readonly limiter: Sessmgr
  stop(): Promise<void>
}

/** The user `user<n>` of the example application. */
export const seededUser = (n: number) => ({ id: 1000 + n, login: `user${n}`, password: `user${n}-password` })

export async function startArena({ processes, users, clockSkewMs = [] }: ArenaOptions): Promise<Arena> {
  const redis = await startRedis()
  const env = { SEED_USERS: String(users) }
  const examples = await startExamples({ redisUrl: redis.url, count: processes, clockSkewMs, env }).catch(
    async (error) => {
      await redis.stop()
      throw error
    },
  )
  const client = await connectRedis(redis.url)
  const store = redisStore({ client })
  const limiter = sessmgr({ store, sessionStore: new RedisStore({ client }) })
  const load = new HttpLoad(IN_FLIGHT_EACH)
  return {
    redis,
    examples,
    origins: examples.origins,
    load,
    client,
    store,
    limiter,
    async stop() {
      load.close()
      await examples.stop()
      await limiter.close()
      client.destroy()
      await redis.stop()
    },
  }
}

/** Returns the origin of the process that handles the n-th request. */
export function originOf({ origins }: Arena, n: number): string {
  return origins[n % origins.length] as string
}
