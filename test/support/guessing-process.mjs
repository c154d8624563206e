// One process of an application, as the package is built: users confirm sign-outs with their password and choices with a
// code, whose checks are slow. Redis counts the checks.
import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { redisStore } from 'sessmgr/redis'
import { sqliteStore } from 'sessmgr/sqlite'

const { url, path, choice } = JSON.parse(process.env.GUESSING)
const CHECK_MS = 250
/** Longer than hundreds of calls at once take on a slow machine. */
const deadlineMs = 60_000

const client = createClient({ url })
client.on('error', () => {})
await client.connect()

/** Checks a password or a code as slowly as bcrypt would. */
async function check(proof, isRight) {
  await client.incr(`checked:${proof}`)
  await new Promise((resolve) => setTimeout(resolve, CHECK_MS))
  return isRight
}

const store = path === undefined ? redisStore({ client, deadlineMs }) : sqliteStore({ path, deadlineMs })
const limiter = sessmgr({
  store,
  sessionStore: new RedisStore({ client }),
  secret: 'shared by the processes, which is long enough',
  settings: { maximum: 1, logic: 'ask' },
})
const app = express()
app.use(
  session({
    store: new RedisStore({ client }),
    secret: 'test',
    resave: false,
    saveUninitialized: false,
    cookie: { maxAge: 3_600_000 },
  }),
)
app.use(limiter)
app.get('/nonce', async (request, response) => response.send((await limiter.nonce(request)) ?? ''))
app.get('/me', (request, response) => response.status(request.sessmgr.session ? 200 : 401).end())
app.post('/login', express.urlencoded(), async (request, response) => {
  try {
    await limiter.login(request, { id: request.body.username })
    response.json({})
  } catch (error) {
    response
      .status(error.status ?? 500)
      .json({ code: error.code, tokens: error.choice?.sessions.map(({ token }) => token) })
  }
})
app.use(
  '/login/choose',
  limiter.choice({
    complete: (request, _response, user) => limiter.login(request, user),
    ...(choice.verify && { verify: (_request, _user, { code }) => check('code', code === 'right') }),
    ...(choice.cooldown && { cooldown: choice.cooldown }),
  }),
)
app.use(
  '/devices',
  limiter.account({ stepUp: { verify: (_request, password) => check('password', password === 'right') } }),
)
app.use('/api', limiter.router())
app.listen(0)
