import { MemoryStore as FastifyMemory } from '@fastify/session'
import connectPgSimple from 'connect-pg-simple'
import { RedisStore } from 'connect-redis'
import session, { MemoryStore } from 'express-session'
import type { Pool } from 'pg'
import type { SessmgrStore } from '../../src/index.ts'
import { postgresStore } from '../../src/postgres.ts'
import { redisStore } from '../../src/redis.ts'
import type { NodeRedis } from './redis-client.ts'

const DAY = 24 * 60 * 60_000

/** The session stores of one kind, for every framework. */
export interface LifeStores {
  readonly name: string
  /** A store of express-session and @fastify/session. */
  forCallbacks(framework: 'Express' | 'Fastify'): unknown
  /** A store of koa-session, and of an application that calls sessmgr itself. */
  forPromises(): PromisedStore
  /** The store of sessmgr. */
  registry(): SessmgrStore | undefined
  /** Returns the time at which a session expires in the store that was created last. */
  expiry(sessionId: string): Promise<number | undefined>
}

/** A store with the signatures of koa-session. Without a time to live, it keeps sessions for a day, or for ever. */
interface PromisedStore {
  /** Seconds that it keeps a session without a time to live of its own. */
  readonly ttl?: number
  get(key: string): Promise<Record<string, unknown> | undefined>
  set(key: string, data: object, maxAge?: unknown): Promise<void>
  destroy(key: string): Promise<void>
}

/** Sessions in the memory of this process. */
export function memoryLives(): LifeStores {
  let find: (sessionId: string) => number | undefined
  const cookieExpiry = (expires: unknown) =>
    expires ? new Date(expires as string).getTime() : Number.POSITIVE_INFINITY
  return {
    name: 'memory',
    forCallbacks(framework) {
      if (framework === 'Express') {
        const store = new MemoryStore() as MemoryStore & { sessions: Record<string, string> }
        find = (sessionId) => {
          const json = store.sessions[sessionId]
          return json === undefined ? undefined : cookieExpiry(JSON.parse(json).cookie.expires)
        }
        return store
      }
      const kept = new Map<string, { cookie: { expires: Date | null } }>()
      find = (sessionId) => {
        const data = kept.get(sessionId)
        return data && cookieExpiry(data.cookie.expires)
      }
      return new FastifyMemory(kept as never)
    },
    forPromises() {
      const kept = new Map<string, { json: string; expires: number }>()
      find = (key) => kept.get(key)?.expires
      return {
        get: async (key) => JSON.parse(kept.get(key)?.json ?? 'null') ?? undefined,
        async set(key, data, maxAge) {
          const expires = typeof maxAge === 'number' ? Date.now() + maxAge : Number.POSITIVE_INFINITY
          kept.set(key, { json: JSON.stringify(data), expires })
        },
        destroy: async (key) => void kept.delete(key),
      }
    },
    registry: () => undefined,
    expiry: async (sessionId) => find(sessionId),
  }
}

/** Sessions in Redis: connect-redis, or like koa-redis. */
export function redisLives(client: NodeRedis, options: { ttl?: number | (() => number) } = {}): LifeStores {
  return {
    name: 'Redis',
    forCallbacks: () => new RedisStore({ client, ...options } as never),
    forPromises: () => ({
      ttl: 86_400,
      get: async (key) => JSON.parse((await client.get(`sess:${key}`)) ?? 'null') ?? undefined,
      async set(key, data, maxAge) {
        const ttl = typeof maxAge === 'number' ? maxAge : DAY
        if (ttl > 0) await client.set(`sess:${key}`, JSON.stringify(data), { expiration: { type: 'PX', value: ttl } })
        else await client.del(`sess:${key}`)
      },
      destroy: async (key) => void (await client.del(`sess:${key}`)),
    }),
    registry: () => redisStore({ client }),
    async expiry(sessionId) {
      const ttl = await client.pTTL(`sess:${sessionId}`)
      if (ttl === -2) return undefined
      return ttl === -1 ? Number.POSITIVE_INFINITY : Date.now() + ttl
    },
  }
}

/** Sessions in PostgreSQL: connect-pg-simple, and its table. */
export function postgresLives(pool: Pool): LifeStores {
  const PgStore = connectPgSimple(session)
  const create = () => new PgStore({ pool, createTableIfMissing: true, pruneSessionInterval: false })
  return {
    name: 'PostgreSQL',
    forCallbacks: create,
    forPromises() {
      const table = create()
      const call = <T>(run: (done: (error: unknown, value?: T) => void) => void) =>
        new Promise<T | undefined>((resolve, reject) => run((error, value) => (error ? reject(error) : resolve(value))))
      return {
        ttl: 86_400,
        async get(key) {
          const kept = await call<{ data: Record<string, unknown> }>((done) => table.get(key, done as never))
          return kept?.data
        },
        async set(key, data, maxAge) {
          const expires = typeof maxAge === 'number' ? new Date(Date.now() + maxAge) : undefined
          await call((done) => table.set(key, { data, cookie: { expires } } as never, done))
        },
        destroy: async (key) => void (await call((done) => table.destroy(key, done))),
      }
    },
    registry: () => postgresStore({ pool, createTable: true }),
    async expiry(sessionId) {
      const { rows } = await pool.query('SELECT expire FROM session WHERE sid = $1 AND expire > now()', [sessionId])
      return rows[0]?.expire.getTime()
    },
  }
}
