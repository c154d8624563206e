// One process of an application with bound sessions, as the package is built, behind a proxy that ends HTTPS.
import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { boundSessions } from 'sessmgr/bound'
import { redisStore } from 'sessmgr/redis'
import { answerCalls, setup } from './answer-calls.mjs'

const client = createClient({ url: setup.url })
client.on('error', () => {})
await client.connect()
const limiter = sessmgr({ store: redisStore({ client }), settings: { maximum: 1 } })

const app = express()
const store = new RedisStore({ client })
app.use(session({ store, secret: 'test', resave: false, saveUninitialized: false, cookie: { maxAge: 3_600_000 } }))
app.use(limiter)
app.use(boundSessions(limiter, { proofSeconds: 300 }))
app.post('/login', express.urlencoded({ extended: false }), async (request, response) => {
  await limiter.login(request, { id: request.body.username })
  request.session.user = request.body.username
  response.json(null)
})
app.get('/me', (request, response) => void response.status(request.sessmgr?.session ? 200 : 401).json(null))
const server = app.listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))

answerCalls({ origin: () => `http://127.0.0.1:${server.address().port}` })
