// One process of an application with better-auth, and with the package as it is built. It signs ada in over and over,
// and tells the cookie of each sign-in.
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { getMigrations } from 'better-auth/db/migration'
import { sessmgr } from 'sessmgr'
import { sessionLimit } from 'sessmgr/better-auth'
import { postgresStore } from 'sessmgr/postgres'
import { redisStore } from 'sessmgr/redis'
import { sqliteStore } from 'sessmgr/sqlite'
import { answerCalls, setup, tell } from './answer-calls.mjs'

const SITE = 'http://127.0.0.1:3000'
const { kind, place, logins, inFlight, maximum, isFirst } = setup

const password = { hash: async (it) => `plain:${it}`, verify: async (it) => it.hash === `plain:${it.password}` }
const parts = await { redis, sqlite, postgres }[kind]()
const limiter = sessmgr({ store: parts.store, settings: { maximum, logic: 'logout_oldest' } })
const options = {
  baseURL: SITE,
  secret: 'a secret of at least thirty-two characters',
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { disabled: true },
  emailAndPassword: { enabled: true, password },
  ...parts.auth,
  plugins: [sessionLimit(limiter)],
}
if (isFirst && parts.hasTables) await (await getMigrations(options)).runMigrations()
const auth = betterAuth(options)

/** Sessions in Redis. Every process knows ada. */
async function redis() {
  const { createClient } = await import('redis')
  const client = await createClient({ url: place }).connect()
  const now = new Date()
  const ada = { id: 'ada', email: 'ada@site.test', name: 'ada', emailVerified: true, createdAt: now, updatedAt: now }
  const account = {
    id: 'own',
    userId: 'ada',
    accountId: 'ada',
    providerId: 'credential',
    // Early versions of 1.7 find no account without it.
    issuer: 'local:credential',
    password: 'plain:secret-of-all',
  }
  const accounts = [{ ...account, createdAt: now, updatedAt: now }]
  const secondaryStorage = {
    get: (key) => client.get(`auth:${key}`),
    set: async (key, value, seconds) => void (await client.set(`auth:${key}`, value, seconds ? { EX: seconds } : {})),
    delete: async (key) => void (await client.del(`auth:${key}`)),
    getAndDelete: (key) => client.getDel(`auth:${key}`),
    increment: (key) => client.incr(`auth:${key}`),
  }
  const database = memoryAdapter({ user: [ada], account: accounts, session: [], verification: [] })
  return { store: redisStore({ client }), auth: { database, secondaryStorage } }
}

async function sqlite() {
  const { default: Database } = await import('libsql')
  const { SqliteDialect } = await import('kysely')
  const database = new Database(`${place}.auth`)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 20000')
  const dialect = new SqliteDialect({ database })
  const store = sqliteStore({ path: place, deadlineMs: 20_000 })
  return { store, hasTables: true, auth: { database: { dialect, type: 'sqlite' } } }
}

async function postgres() {
  const { Pool } = (await import('pg')).default
  const pool = () => new Pool({ host: place, user: 'test', database: 'postgres', max: 5 })
  return { store: postgresStore({ pool: pool(), createTable: true }), hasTables: true, auth: { database: pool() } }
}

async function send(path, body, cookie) {
  const headers = { origin: SITE, 'content-type': 'application/json', ...(cookie && { cookie }) }
  const request = { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body) }
  const response = await auth.handler(new Request(`${SITE}/api/auth${path}`, request))
  const [given] = response.headers.getSetCookie()
  return { status: response.status, cookie: given?.split(';', 1)[0], text: await response.text() }
}

const ada = { email: 'ada@site.test', password: 'secret-of-all' }
if (isFirst && parts.hasTables) await send('/sign-up/email', { ...ada, name: 'ada' })

await answerCalls({
  async signIn() {
    let left = logins
    const statuses = {}
    const lane = async () => {
      while (left-- > 0) {
        const { status, cookie } = await send('/sign-in/email', ada)
        statuses[status] = (statuses[status] ?? 0) + 1
        if (status === 200) tell({ cookie })
      }
    }
    await Promise.all(Array.from({ length: inFlight }, lane))
    return statuses
  },
  async count({ cookies }) {
    const answers = await Promise.all(cookies.map((cookie) => send('/get-session', undefined, cookie)))
    const live = answers.filter(({ text }) => text !== 'null' && text !== '').length
    const user = JSON.parse(answers.find(({ text }) => text.startsWith('{'))?.text ?? 'null')?.user
    return { live, slots: user ? await limiter.sessions.count(user.id) : 0 }
  },
})
