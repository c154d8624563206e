// A small application with connect-redis and Passport, with one of the checks that are compared. Prints its port; tells its
// CPU time and its heap.
import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-local'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { redisStore } from 'sessmgr/redis'

const LIFE_MS = 2 * 24 * 60 * 60_000
const TOUCH_EVERY_MS = 60_000

const kind = process.argv[2]
const url = process.env.REDIS_URL ?? ''
const client = createClient(process.env.CLIENT_DEFAULTS ? { url } : { url, commandOptions: { timeout: undefined } })
client.on('error', () => {})
await client.connect()

/** Notes at most once a minute that a session is in use, as sessmgr does: faster than that no check can be. */
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

passport.use(new Strategy((username, _password, done) => done(null, { id: username })))
passport.serializeUser((user, done) => done(null, (user as { id: string }).id))
passport.deserializeUser((id: string, done) => done(null, { id }))

const store = kind === 'limit' ? new ThrottledStore({ client }) : new RedisStore({ client })
const app = express()
app.disable('x-powered-by')
app.set('etag', false)
app.use(
  session({
    store,
    secret: 'a secret of the benchmark',
    resave: false,
    saveUninitialized: false,
    cookie: { maxAge: LIFE_MS },
  }),
)
if (kind === 'protected' || kind === 'fallback') {
  const options = kind === 'fallback' ? { client, tracking: false } : { client }
  app.use(sessmgr({ store: redisStore(options), settings: { maximum: 10, logic: 'logout_oldest' } }))
}
app.use(passport.session())
if (kind === 'naive') {
  // What many write themselves: a hash of the user's sessions, asked on every request.
  app.use(async ({ user, sessionID }, res, next) => {
    if (user && !(await client.hExists(`live:${(user as { id: string }).id}`, sessionID))) res.sendStatus(401)
    else next()
  })
}
app.post(
  '/login',
  express.urlencoded({ extended: false }),
  passport.authenticate('local'),
  async ({ user, sessionID }, res) => {
    if (kind === 'naive') await client.hSet(`live:${(user as { id: string }).id}`, sessionID, Date.now())
    res.sendStatus(204)
  },
)
app.get('/me', (req, res) => {
  if (req.user) res.json(req.user)
  else res.sendStatus(401)
})
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address && typeof address === 'object') console.log(address.port)
})
// Connections wait for their turn.
server.keepAliveTimeout = 0
process.on('message', (asked: 'cpu' | 'heap') => {
  if (asked === 'heap') globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  process.send?.(asked === 'heap' ? process.memoryUsage().heapUsed : user + system)
})
process.once('disconnect', () => process.exit(0))
