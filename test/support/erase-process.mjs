// One process of an application, as the package is built: it does what leaves data about its users, over and over.
import { sessmgr } from 'sessmgr'
import { jsonLinesSink, sqlSink } from 'sessmgr/audit'
import { explicitCalls } from 'sessmgr/explicit'
import { postgresStore } from 'sessmgr/postgres'
import { redisStore } from 'sessmgr/redis'
import { sqliteStore } from 'sessmgr/sqlite'
import { answerCalls, setup, tell } from './answer-calls.mjs'

const { path, host, url, lines, users, secret } = setup
const TTL_MS = 3_600_000
const deadlineMs = 5000
/** Codes of calls that lose a race, or that a busy machine does not answer in time. */
const LOST = ['session_ended', 'login_conflict', 'store_unavailable']

async function redis() {
  const { createClient } = await import('redis')
  const client = createClient({ url })
  await client.connect()
  return { store: redisStore({ client, deadlineMs }), sink: jsonLinesSink(lines) }
}

async function postgres() {
  const { Pool } = (await import('pg')).default
  const pool = new Pool({ host, user: 'test', database: 'postgres', max: 5 })
  pool.on('error', () => {})
  return { store: postgresStore({ pool, createTable: true, deadlineMs }), sink: sqlSink({ pool }) }
}

async function sqlite() {
  return { store: sqliteStore({ path, deadlineMs }), sink: sqlSink({ path: `${path}-audit` }) }
}

const { store, sink } = await (url !== undefined ? redis() : host !== undefined ? postgres() : sqlite())
const settings = { maximum: 3, logic: 'logout_oldest' }
const logger = { warn() {}, error() {} }
const limiter = sessmgr({ store, settings, audit: { sink }, deadlineMs, directory: true, device: true, secret, logger })
const calls = explicitCalls(limiter, { exists: async () => true, destroy: async () => {} })
const tokens = Object.fromEntries(users.map((user) => [user, []]))
limiter.hooks.addAction('sessmgr_session_started', 'test', ({ token, userId }) => void tokens[userId].push(token))
const present = new Set(users)

/** Signs a user in on a new device, and does something else that leaves data. */
async function act(userId) {
  const name = `sid-${userId}-${crypto.randomUUID()}`
  const login = { userId, ip: `ip-${userId}`, userAgent: `agent-${userId}`, device: { cookies: null } }
  await calls.login(login, async () => ({ sessionId: name, ttlMs: TTL_MS }))
  const chance = Math.random()
  if (chance < 0.1) await limiter.sessions.endAll(userId, { by: 'admin', actor: userId, note: `Hello ${userId}` })
  else if (chance < 0.2) await calls.adopt({ userId, sessionId: `old-${name}`, ttlMs: TTL_MS })
  else if (chance < 0.3) await limiter.passwords.create(userId, `of ${userId}`)
}

async function work() {
  let acts = 0
  for (; present.size > 0; acts++) {
    const all = [...present]
    await act(all[acts % all.length]).catch(async (error) => {
      if (!LOST.includes(error.code)) await tell({ failed: String(error.stack), cause: String(error.cause) })
    })
  }
  return acts
}

const working = [work(), work()]
await answerCalls({
  // As in an application that has deleted the account: what has begun goes on.
  leave: async ({ user }) => present.delete(user),
  erase: ({ user }) => limiter.eraseUser(user, { by: 'admin', actor: 'boss' }),
  /** Answers how many acts there were, and the tokens of each user's sessions. */
  async stop() {
    present.clear()
    const acts = (await Promise.all(working)).reduce((sum, one) => sum + one, 0)
    await limiter.close()
    return { acts, tokens }
  },
})
