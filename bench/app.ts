// A small application with connect-redis and Passport, with or without the limit. Prints its port; reports its CPU time.
import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-local'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { redisStore } from 'sessmgr/redis'

const isProtected = process.argv[2] === 'protected'
const client = createClient({ url: process.env.REDIS_URL ?? '', commandOptions: { timeout: undefined } })
client.on('error', () => {})
await client.connect()

passport.use(new Strategy((username, _password, done) => done(null, { id: username })))
passport.serializeUser((user, done) => done(null, (user as { id: string }).id))
passport.deserializeUser((id: string, done) => done(null, { id }))

const app = express()
app.disable('x-powered-by')
app.set('etag', false)
app.use(
  session({
    store: new RedisStore({ client }),
    secret: 'a secret of the benchmark',
    resave: false,
    saveUninitialized: false,
    cookie: { maxAge: 2 * 24 * 60 * 60_000 },
  }),
)
if (isProtected) app.use(sessmgr({ store: redisStore({ client }), settings: { maximum: 10, logic: 'logout_oldest' } }))
app.use(passport.session())
app.post('/login', express.urlencoded({ extended: false }), passport.authenticate('local'), (_req, res) => {
  res.sendStatus(204)
})
app.get('/me', (req, res) => {
  if (req.user) res.json(req.user)
  else res.sendStatus(401)
})
app.get('/cpu', (_req, res) => {
  res.json(process.cpuUsage())
})
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address && typeof address === 'object') console.log(address.port)
})

process.once('SIGINT', () => process.exit(0))
