// One process of an application, as the package is built: it signs users in over and over, on a store in a database, as
// soon as it is told to, and may end sessions in between. How each login ended, and which sessions were announced, goes
// to the process that started it.
import { sessmgr } from 'sessmgr'
import { explicitCalls } from 'sessmgr/explicit'
import { postgresStore } from 'sessmgr/postgres'
import { redisStore } from 'sessmgr/redis'
import { sqliteStore } from 'sessmgr/sqlite'

const { path, host, url, settings, users, logins, inFlight, skewMs, endsToo, deadlineMs } = JSON.parse(
  process.env.LOGINS,
)

const realNow = Date.now
Date.now = () => realNow() + skewMs

const store =
  path !== undefined ? sqliteStore({ path, deadlineMs }) : url !== undefined ? await redis() : await postgres()
const limiter = sessmgr({ store, settings })
const calls = explicitCalls(limiter, { exists: async () => true, destroy: async () => {} })
const ended = { admitted: 0, refused: 0 }
const announced = { started: [], ended: [] }
limiter.hooks.addAction('sessmgr_session_started', 'race', ({ token }) => announced.started.push(token))
limiter.hooks.addAction('sessmgr_session_ended', 'race', ({ token }) => announced.ended.push(token))
const say = (message) => new Promise((resolve) => process.stdout.write(`${JSON.stringify(message)}\n`, resolve))

async function postgres() {
  const { Pool } = (await import('pg')).default
  const pool = new Pool({ host, user: 'test', database: 'postgres', max: 5 })
  pool.on('error', () => {})
  return postgresStore({ pool, createTable: true })
}

async function redis() {
  const { createClient } = await import('redis')
  const client = createClient({ url })
  await client.connect()
  return redisStore({ client })
}

/** Ends a session, the others, or all: one of ten times. */
async function endSome(n, userId) {
  if (n % 30 === 0) return limiter.sessions.endAll(userId)
  const [first] = await limiter.sessions.list(userId)
  if (first === undefined) return
  // Another process may have ended it in the meantime.
  await (n % 20 === 0
    ? limiter.sessions.endOthers(userId, first.token).catch(() => {})
    : limiter.sessions.end(userId, first.token))
}

/** Ends as many of the offered sessions as needed. Others may do so at the same time, and the user is asked again. */
async function choose(userId, { need, sessions }, create) {
  const ends = sessions.slice(-need).map(({ token }) => token)
  const { admitted } = await calls.login({ userId, ends }, create)
  const outcome = admitted ? 'chosen' : 'again'
  ended[outcome] = (ended[outcome] ?? 0) + 1
}

let next = 0
async function loginOn() {
  for (let n = next++; n < logins; n = next++) {
    const userId = users[n % users.length]
    const create = async () => ({ sessionId: `${process.pid}-${n}`, ttlMs: 3_600_000 })
    try {
      const { admitted, choice } = await calls.login({ userId }, create)
      ended[admitted ? 'admitted' : 'refused'] += 1
      if (choice) await choose(userId, choice, create)
      if (endsToo && n % 10 === 0) await endSome(n, userId)
    } catch (error) {
      const code = error.code ?? String(error)
      ended[code] = (ended[code] ?? 0) + 1
    }
    if (n === Math.floor(logins / 3)) say('a third')
  }
}

// The first call opens the database.
await store.epoch.current()
process.stdin.once('data', async () => {
  await Promise.all(Array.from({ length: inFlight }, loginOn))
  await say({ ended, announced })
  process.exit()
})
await say('ready')
