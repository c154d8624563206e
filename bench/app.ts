// An application with connect-redis and one of the checks to compare.
import { RedisStore } from 'connect-redis'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { redisStreamSink } from 'sessmgr/audit'
import { redisStore } from 'sessmgr/redis'
import { serveApp } from './serve-app.ts'

const TOUCH_EVERY_MS = 60_000

const kind = process.argv[2]
const url = process.env.REDIS_URL ?? ''
const client = createClient(process.env.CLIENT_DEFAULTS ? { url } : { url, commandOptions: { timeout: undefined } })
client.on('error', () => {})
await client.connect()

/** Records at most once a minute that a session is in use, as sessmgr does. No check can be faster than that. */
class ThrottledStore extends RedisStore {
  #noted = new Map<string, number>()

  override async touch(...args: Parameters<RedisStore['touch']>): Promise<void> {
    const [sessionId, , done] = args
    if (performance.now() - (this.#noted.get(sessionId) ?? -TOUCH_EVERY_MS) < TOUCH_EVERY_MS) {
      process.nextTick(done ?? (() => {}))
      return
    }
    this.#noted.set(sessionId, performance.now())
    return super.touch(...args)
  }
}

const isNaive = kind === 'naive'
const limiter = () =>
  sessmgr({
    store: redisStore(kind === 'fallback' ? { client, tracking: false } : { client }),
    settings: { maximum: 10, logic: 'logout_oldest' },
    directory: kind === 'directory',
    audit: kind === 'audit' ? { sink: redisStreamSink(client) } : undefined,
  })
const live = (userId: string) => `live:${userId}`
serveApp({
  store: kind === 'limit' ? new ThrottledStore({ client }) : new RedisStore({ client }),
  limiter: ['protected', 'fallback', 'directory', 'audit'].includes(kind ?? '') ? limiter() : undefined,
  // What many applications write themselves: a hash of the user's sessions that every request looks up.
  check: isNaive
    ? async ({ user, sessionID }, res, next) => {
        if (user && !(await client.hExists(live((user as { id: string }).id), sessionID))) res.sendStatus(401)
        else next()
      }
    : undefined,
  noteLogin: isNaive ? (userId, sessionId) => client.hSet(live(userId), sessionId, Date.now()) : undefined,
})
