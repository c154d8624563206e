// Two processes that share one limit through Redis. Sign in at http://127.0.0.1:3000 from two browsers: the first one
// is signed out, whichever process serves it.
import cluster from 'node:cluster'
import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { redisStore } from 'sessmgr/redis'

const users = [{ id: 'u1', login: 'alice' }] // your database, which ignores case in names
const findUser = (name = '') => users.find(({ login }) => login === name.toLowerCase())

function serve() {
  const client = createClient({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' }).on('error', console.error)
  client.connect().catch(console.error) // not awaited: the app starts while Redis is down
  const sessionStore = new RedisStore({ client })

  const app = express()
  const cookie = { sameSite: 'lax' }
  app.use(session({ store: sessionStore, secret: 'change me', resave: false, saveUninitialized: false, cookie }))
  const settings = { maximum: 1 }
  app.use(sessmgr({ store: redisStore({ client }), sessionStore, sessionUser: ({ userId }) => userId, settings }))

  const form = `<form method="post" action="/login">
    <p><label>Name: alice <input name="username"></label>
    <p><label>Password: secret <input name="password" type="password"></label>
    <p><button>Sign in</button>
  </form>`
  app.get('/', (req, res) => {
    res.set('X-Process', String(process.pid)).send(req.session.userId ? 'You are signed in.' : form)
  })
  app.post('/login', express.urlencoded({ extended: false }), (req, res, next) => {
    const user = req.body.password === 'secret' && findUser(req.body.username)
    if (!user) return res.redirect('/')
    req.session.regenerate((error) => {
      if (error) return next(error)
      req.session.userId = user.id
      req.session.save((error) => (error ? next(error) : res.redirect('/')))
    })
  })

  app.listen(3000, '127.0.0.1', (error) => {
    if (error) throw error
    console.log('http://127.0.0.1:3000')
  })
}

if (cluster.isPrimary) {
  for (const _ of [1, 2]) cluster.fork()
  cluster.on('exit', (_worker, code) => {
    if (code) process.exitCode = code
  })
} else serve()
