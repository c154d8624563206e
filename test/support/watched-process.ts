import { RedisStore } from 'connect-redis'
import { afterEach, expect } from 'vitest'
import { type SessmgrStore, tokenOf, type UserId } from '../../src/index.ts'
import { redisStore } from '../../src/redis.ts'
import type { VerdictWatch, WatchedSession } from '../../src/stores/store.ts'
import { connectRedis, type NodeRedis } from './redis-client.ts'

/** The result of reading a session over the watched connection. */
export interface Answer {
  readonly data: unknown
  readonly isLive: boolean
}

/** One process that watches its sessions in Redis, without a guard. */
export interface WatchedProcess {
  readonly client: NodeRedis
  readonly store: SessmgrStore
  readonly watch: VerdictWatch
  readonly sessionStore: RedisStore
  /** Registers a session, and returns it as the process remembers it. */
  login(userId: UserId, sessionId: string): Promise<WatchedSession>
  /** Reads a session over the watched connection. Resolves to undefined without such a connection. */
  ask(session: WatchedSession, sessionId: string): Promise<Answer | undefined>
  close(): Promise<void>
}

/** How long a session lives. */
const LIFE_MS = 3_600_000

interface Options {
  readonly client?: NodeRedis
  readonly sessionStore?: RedisStore
  readonly tracking?: boolean
  readonly deadlineMs?: number
}

/** Starts a process with its own connection, unless one is given. */
export async function startWatched(url: string, options: Options = {}): Promise<WatchedProcess> {
  const client = options.client ?? (await connectRedis(url))
  const { sessionStore = new RedisStore({ client }), tracking, deadlineMs } = options
  const store = redisStore({ client, tracking, deadlineMs })
  const watch = store.watch as VerdictWatch
  const { get } = sessionStore
  return {
    client,
    store,
    watch,
    sessionStore,
    async login(userId, sessionId) {
      const [read, { generation }] = await Promise.all([store.sessions.read(userId), store.epoch.current()])
      const admit = { sessionId, ttlMs: LIFE_MS, ip: null, userAgent: null, device: null, generation }
      await client.set(`sess:${sessionId}`, JSON.stringify({ sessionId }))
      await store.sessions.commit(userId, read, { admit, end: [] })
      return { userId, token: tokenOf(sessionId) }
    },
    async ask(session, sessionId) {
      const view = watch.reading(sessionStore)
      if (!view) return undefined
      const begun = watch.begin(session)
      return new Promise((resolve, reject) => {
        get.call(view, sessionId, (error: unknown, data: unknown) => {
          if (error) reject(error)
          else process.nextTick(() => resolve({ data, isLive: watch.isLive(session, begun) }))
        })
      })
    },
    async close() {
      await store.close()
      client.destroy()
    },
  }
}

/** Returns a function that starts processes whose watch is in use. Those in `open` are closed when a test ends. */
export function useWatched(redis: { readonly server: { readonly url: string } }) {
  const open: WatchedProcess[] = []
  afterEach(async () => {
    for (const process of open.splice(0)) await process.close()
  })
  return {
    open,
    async started(options: Options = {}): Promise<WatchedProcess> {
      const process = await startWatched(redis.server.url, options)
      open.push(process)
      await expect.poll(() => process.watch.whyNot(process.sessionStore)).toBeUndefined()
      return process
    },
  }
}
