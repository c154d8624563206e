// An application with connect-redis and one of the checks to compare.
import { RedisStore } from 'connect-redis'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { redisStore } from 'sessmgr/redis'
import { serveApp } from './serve-app.ts'

const TOUCH_EVERY_MS = Number(process.env.TOUCH_EVERY ?? 60_000)
const MAXIMUM = Number(process.env.MAXIMUM ?? 10)

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

// Behind the proxy that delays responses, sessmgr cannot see that no connection is shared.
const isFar = process.env.FAR !== undefined
const limiter = () =>
  sessmgr({
    store: redisStore({ client, tracking: kind === 'fallback' ? false : isFar ? true : undefined }),
    settings: { maximum: MAXIMUM, logic: 'logout_oldest' },
    touchEvery: TOUCH_EVERY_MS,
    directory: kind === 'directory',
  })
const live = (userId: string) => `live:${userId}`

/** Ends the oldest sessions of a user who has too many. When logins race, too many remain. */
async function noteByHand(userId: string, sessionId: string): Promise<void> {
  const sessions = await client.hGetAll(live(userId))
  const byAge = Object.keys(sessions).sort((a, b) => Number(sessions[a]) - Number(sessions[b]))
  const ended = byAge.slice(0, Math.max(0, byAge.length - MAXIMUM + 1))
  await Promise.all([
    client.hSet(live(userId), sessionId, Date.now()),
    ...(ended.length > 0 ? [client.hDel(live(userId), ended), client.del(ended.map((id) => `sess:${id}`))] : []),
  ])
}

const isByHand = kind === 'byHand'
serveApp({
  store: kind === 'limit' ? new ThrottledStore({ client }) : new RedisStore({ client }),
  limiter: ['protected', 'fallback', 'directory'].includes(kind ?? '') ? limiter() : undefined,
  // What many applications write themselves: a hash of the user's sessions that every request looks up.
  check: isByHand
    ? async ({ user, sessionID }, res, next) => {
        if (user && !(await client.hExists(live((user as { id: string }).id), sessionID))) res.sendStatus(401)
        else next()
      }
    : undefined,
  noteLogin: isByHand ? noteByHand : undefined,
})
