import { RedisStore } from 'connect-redis'
import type { SessionSettings, SessmgrStore } from '../../src/index.ts'
import { type RedisClient, redisStore } from '../../src/redis.ts'
import { type ExpressHost, openExpressHost } from './express-host.ts'

/** How an application on Redis is put together. */
export interface RedisHostOptions {
  readonly client: RedisClient
  /** For the sessions, where they lie elsewhere. */
  readonly sessionClient?: unknown
  readonly settings?: Partial<SessionSettings>
  /** For both, the session store and the store of sessmgr. */
  readonly deadlineMs?: number
  readonly durability?: 'master' | 'replica'
  readonly tracking?: boolean
  readonly touchEvery?: number | undefined
  /** Milliseconds that the cookie lives; without it, it lives as long as the browser. */
  readonly cookieMaxAge?: number
}

/** One process of an application on Express and Redis. */
export interface RedisHost extends Omit<ExpressHost, 'store'> {
  readonly store: SessmgrStore
}

/** Starts an application with connect-redis. Its errors are left to Express. */
export async function startRedisHost(options: RedisHostOptions): Promise<RedisHost> {
  const {
    client,
    sessionClient = client,
    settings,
    deadlineMs,
    durability,
    tracking,
    touchEvery,
    cookieMaxAge: maxAge,
  } = options
  const sessionStore = new RedisStore({ client: sessionClient })
  const store = redisStore({ client, deadlineMs, durability, tracking })
  const host = await openExpressHost({
    settings,
    sessmgr: { store, sessionStore, deadlineMs, touchEvery },
    store: sessionStore,
    session: { cookie: maxAge === undefined ? {} : { maxAge } },
    expressErrors: true,
  })
  return { ...host, store }
}
