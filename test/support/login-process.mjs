// One process of an application, as the package is built: it signs users in over and over, on a store in a database, as
// soon as it is told to. How each login ended goes to the process that started it.
import { sessmgr } from 'sessmgr'
import { explicitCalls } from 'sessmgr/explicit'
import { postgresStore } from 'sessmgr/postgres'
import { sqliteStore } from 'sessmgr/sqlite'

const { path, host, settings, users, logins, inFlight, skewMs } = JSON.parse(process.env.LOGINS)

const realNow = Date.now
Date.now = () => realNow() + skewMs

const store = path === undefined ? await postgres() : sqliteStore({ path })
const limiter = sessmgr({ store, settings })
const calls = explicitCalls(limiter, { exists: async () => true, destroy: async () => {} })
const ended = { admitted: 0, refused: 0 }
const say = (message) => new Promise((resolve) => process.stdout.write(`${JSON.stringify(message)}\n`, resolve))

async function postgres() {
  const { Pool } = (await import('pg')).default
  const pool = new Pool({ host, user: 'test', database: 'postgres', max: 5 })
  pool.on('error', () => {})
  return postgresStore({ pool, createTable: true })
}

let next = 0
async function loginOn() {
  for (let n = next++; n < logins; n = next++) {
    const userId = users[n % users.length]
    const create = async () => ({ sessionId: `${process.pid}-${n}`, ttlMs: 3_600_000 })
    try {
      const { admitted } = await calls.login({ userId }, create)
      ended[admitted ? 'admitted' : 'refused'] += 1
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
  await say(ended)
  process.exit()
})
await say('ready')
