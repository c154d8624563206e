// One process of an application, as docs/production.md describes it for serverless functions: it serves one request, and
// is then frozen, or closes everything and ends on its own.
import { once } from 'node:events'
import connectPgSimple from 'connect-pg-simple'
import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import { Pool } from 'pg'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { jsonLinesSink } from 'sessmgr/audit'
import { postgresStore } from 'sessmgr/postgres'
import { redisStore } from 'sessmgr/redis'
import { setup, tell } from './answer-calls.mjs'

const { url, host, events, mode, isFrozen } = setup
const { store, sessionStore, end } = url ? await onRedis() : onPostgres()
const limiter = sessmgr({
  store,
  sessionStore,
  settings: { maximum: 2, logic: 'logout_oldest' },
  touchEvery: 0,
  audit: { sink: jsonLinesSink(events), mode },
})

async function onRedis() {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  const sessionStore = new RedisStore({ client })
  return { store: redisStore({ client, tracking: false }), sessionStore, end: () => client.close() }
}

function onPostgres() {
  const pool = new Pool({ host, user: 'test', database: 'postgres', options: '-c lock_timeout=1s' })
  const sessionStore = new (connectPgSimple(session))({ pool, pruneSessionInterval: false })
  return { store: postgresStore({ pool }), sessionStore, end: () => pool.end() }
}

const app = express()
app.use(session({ store: sessionStore, secret: 'x', resave: false, saveUninitialized: false }))
app.use(limiter)
app.post('/login', async (request, response) => {
  await limiter.login(request, { id: 'alice' })
  request.session.userId = 'alice'
  response.sendStatus(204)
})
app.post('/logout', async (request, response) => {
  await limiter.logout(request)
  response.sendStatus(204)
})
app.get('/me', (request, response) => response.sendStatus(request.sessmgr.session ? 200 : 401))

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
server.once('request', (_request, response) => {
  response.once('finish', async () => {
    if (isFrozen) return process.kill(process.pid, 'SIGKILL')
    server.close()
    server.closeIdleConnections()
    await limiter.close()
    await end()
    // Otherwise, the channel to the test would keep the process alive.
    process.removeAllListeners('disconnect')
    process.disconnect()
  })
})
process.on('disconnect', () => process.exit())
await tell({ origin: `http://127.0.0.1:${server.address().port}` })
