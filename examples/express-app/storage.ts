import { RedisStore } from 'connect-redis'
import session from 'express-session'
import { createClient } from 'redis'
import { memoryStore, type SessmgrStore } from 'sessmgr'
import { redisStore } from 'sessmgr/redis'

/** Where sessions, and what sessmgr knows of them, are kept. */
export interface Storage {
  sessionStore: session.Store
  store: SessmgrStore
  close(): Promise<void>
}

/** Opens the Redis at a URL, or keeps everything in this process. */
export function createStorage(redisUrl: string | undefined): Storage {
  if (!redisUrl) {
    return { sessionStore: new session.MemoryStore(), store: memoryStore(), close: async () => {} }
  }
  // The client's own timeout does not cover a command already sent, and costs time on each; sessmgr sets its deadline.
  const client = createClient({ url: redisUrl, commandOptions: { timeout: undefined } })
  let down = false
  client.on('error', (error) => {
    if (!down) console.error(`Redis: ${error.message || error.code}`)
    down = true
  })
  client.on('ready', () => {
    down = false
  })
  // Not awaited: with Redis down the application starts all the same, answers 503 to logins, and recovers by itself.
  client.connect().catch((error) => console.error(`Redis: ${error.message}`))
  return {
    sessionStore: new RedisStore({ client }),
    store: redisStore({ client }),
    close: async () => client.destroy(),
  }
}
