import { RedisStore } from 'connect-redis'
import session from 'express-session'
import { createClient } from 'redis'
import { memoryStore, type SessmgrStore } from 'sessmgr'
import { redisStore } from 'sessmgr/redis'
import { sqliteStore } from 'sessmgr/sqlite'
import type { Config } from './config.ts'
import { SqliteSessions } from './sqlite-sessions.ts'

/** Where the sessions and sessmgr's data are stored. */
export interface Storage {
  sessionStore: session.Store
  store: SessmgrStore
  close(): Promise<void>
}

/** Connects to Redis or opens a SQLite file, or else stores everything in this process. */
export function createStorage({ redisUrl, databaseFile }: Pick<Config, 'redisUrl' | 'databaseFile'>): Storage {
  if (!redisUrl && databaseFile) return inFile(databaseFile)
  if (!redisUrl) {
    return { sessionStore: new session.MemoryStore(), store: memoryStore(), close: async () => {} }
  }
  // The client's own timeout does not cover commands that were already sent, and it slows down each command. sessmgr
  // has its own deadline.
  const client = createClient({ url: redisUrl, commandOptions: { timeout: undefined } })
  let down = false
  client.on('error', (error) => {
    if (!down) console.error(`Redis: ${error.message || error.code}`)
    down = true
  })
  client.on('ready', () => {
    down = false
  })
  // Not awaited. If Redis is down, the application still starts, responds to logins with 503, and recovers by itself.
  client.connect().catch((error) => console.error(`Redis: ${error.message}`))
  return {
    sessionStore: new RedisStore({ client }),
    store: redisStore({ client }),
    close: async () => client.destroy(),
  }
}

function inFile(path: string): Storage {
  const sessionStore = new SqliteSessions(path)
  const store = sqliteStore({ path })
  const close = async () => {
    await store.close()
    sessionStore.close()
  }
  return { sessionStore, store, close }
}
