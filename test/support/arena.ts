import { RedisStore } from 'connect-redis'
import { type Sessmgr, type SessmgrStore, sessmgr } from '../../src/index.ts'
import { redisStore } from '../../src/redis.ts'
import type { LoggedAction } from './example-app.ts'
import { ExampleProcess } from './example-process.ts'
import { HttpLoad } from './http-load.ts'
import { connectRedis, type NodeRedis } from './redis-client.ts'
import { startRedis } from './redis-server.ts'

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
  /** Returns the actions with this name that have fired in any process. */
  actions(name: string): readonly LoggedAction[]
  /** Returns how many processes have ended since they were started, for example by a crash. */
  ended(): number
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
  const start = (_: unknown, index: number) =>
    ExampleProcess.start({
      REDIS_URL: redis.url,
      SEED_USERS: String(users),
      CLOCK_SKEW_MS: String(clockSkewMs[index] ?? 0),
    })
  const examples = await Promise.all(Array.from({ length: processes }, start)).catch(async (error) => {
    await redis.stop()
    throw error
  })
  const client = await connectRedis(redis.url)
  const store = redisStore({ client })
  const limiter = sessmgr({ store, sessionStore: new RedisStore({ client }) })
  const load = new HttpLoad(IN_FLIGHT_EACH)
  return {
    actions: (name) => examples.flatMap((example) => example.actions(name)),
    ended: () => examples.filter((example) => example.hasEnded).length,
    origins: examples.map(({ origin }) => origin),
    load,
    client,
    store,
    limiter,
    async stop() {
      load.close()
      await Promise.all(examples.map((example) => example.stop()))
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
