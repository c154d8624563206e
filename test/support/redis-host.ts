import { RedisStore } from 'connect-redis'
import type { SessionSettings, SessmgrStore } from '../../src/index.ts'
import { type RedisClient, redisStore } from '../../src/redis.ts'
import { type ExpressHost, openExpressHost } from './express-host.ts'

/** How an application on Redis is set up. */
export interface RedisHostOptions {
  readonly client: RedisClient
  /** The client for sessions, if they are on another server. */
  readonly sessionClient?: unknown
  readonly settings?: Partial<SessionSettings>
  /** Deadline of both the session store and the store of sessmgr. */
  readonly deadlineMs?: number
  readonly durability?: 'master' | 'replica'
  readonly tracking?: boolean
  readonly touchEvery?: number | undefined
  /** Lifetime of the cookie in milliseconds. By default, it ends with the browser. */
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
